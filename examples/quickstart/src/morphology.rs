//! Shapes of black-and-white pictures: what a disc fits into, and what hangs together.

/// A black-and-white picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Pixels in a row.
    pub width: usize,
    /// Row by row, whether each pixel is on.
    pub on: Vec<bool>,
}

impl Mask {
    fn height(&self) -> usize {
        self.on.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether a pixel is on; none is beyond the edges.
    fn at(&self, x: isize, y: isize) -> bool {
        let inside = x >= 0 && y >= 0 && x < self.width as isize && y < self.height() as isize;
        inside && self.on[y as usize * self.width + x as usize]
    }

    fn map(&self, rule: impl Fn(isize, isize) -> bool) -> Self {
        let place = |i: usize| rule((i % self.width) as isize, (i / self.width) as isize);
        Self { width: self.width, on: (0..self.on.len()).map(place).collect() }
    }

    /// Opening: the pixels that some disc of this radius covers which fits into the picture; 0 changes nothing.
    pub fn opened(&self, radius: usize) -> Self {
        let disc = disc(radius);
        let fits = self.map(|x, y| disc.iter().all(|(dx, dy)| self.at(x + dx, y + dy)));
        fits.map(|x, y| disc.iter().any(|(dx, dy)| fits.at(x + dx, y + dy)))
    }

    /// Without the connected parts, over sides and corners, that have fewer pixels.
    pub fn without_smaller(&self, pixels: usize) -> Self {
        let (mut kept, mut visited) = (self.clone(), vec![false; self.on.len()]);
        for start in 0..self.on.len() {
            if !self.on[start] || visited[start] {
                continue;
            }
            visited[start] = true;
            let mut part = vec![start];
            let mut next = 0;
            while let Some(&i) = part.get(next) {
                next += 1;
                for j in self.neighbours(i) {
                    if !visited[j] {
                        visited[j] = true;
                        part.push(j);
                    }
                }
            }
            if part.len() < pixels {
                part.iter().for_each(|i| kept.on[*i] = false);
            }
        }
        kept
    }

    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> {
        let (x, y) = ((i % self.width) as isize, (i / self.width) as isize);
        let around = (-1..=1).flat_map(move |dy| (-1..=1).map(move |dx| (x + dx, y + dy)));
        around.filter(|(x, y)| self.at(*x, *y)).map(|(x, y)| y as usize * self.width + x as usize)
    }
}

/// Places within a radius, half a pixel generously so that small discs are round.
fn disc(radius: usize) -> Vec<(isize, isize)> {
    let r = radius as isize;
    let square = (-r..=r).flat_map(move |y| (-r..=r).map(move |x| (x, y)));
    square.filter(|(x, y)| x * x + y * y <= r * r + r / 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(rows: &[&str]) -> Mask {
        Mask { width: rows[0].len(), on: rows.concat().chars().map(|c| c == '#').collect() }
    }

    #[test]
    fn an_opening_takes_lines_and_dots_and_keeps_what_a_disc_fits_into() {
        let picture = mask(&["#.......", "...#....", "..###..#", "######.#", "..###..#", "...#...#"]);
        let expected = mask(&["........", "...#....", "..###...", ".#####..", "..###...", "...#...."]);
        assert_eq!(picture.opened(1), expected);
        assert_eq!(picture.opened(0), picture);
        assert_eq!(picture.opened(3), mask(&["........"; 6]));
    }

    #[test]
    fn small_parts_go_and_corners_connect() {
        let picture = mask(&["#..##", ".#...", "..#.#", "#...."]);
        assert_eq!(picture.without_smaller(2), mask(&["#..##", ".#...", "..#..", "....."]));
        assert_eq!(picture.without_smaller(3), mask(&["#....", ".#...", "..#..", "....."]));
        assert_eq!(picture.without_smaller(0), picture);
    }

    #[test]
    fn discs_are_round() {
        assert_eq!([0, 1, 2, 3].map(|r| disc(r).len()), [1, 5, 21, 37]);
    }
}
