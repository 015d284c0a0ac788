//! Points of a space, by names and values or by the unit cube, and the way between the two.

use super::name::{MAX_NAME, nearest};
use super::param::Domain;
use super::point::{Point, PointError, Value};
use super::space::{Axis, Space, SpaceError};
use super::stage_set::StageSet;

impl Space {
    /// A point from names and values, one for each parameter; it may be forbidden.
    pub fn point<'a, V: Into<Value>>(
        &self,
        values: impl IntoIterator<Item = (&'a str, V)>,
    ) -> Result<Point, SpaceError> {
        let mut slots: Vec<Option<Value>> = vec![None; self.params().len()];
        for (name, value) in values {
            let Some(p) = self.param_index(name) else {
                let suggestion = nearest(name, self.names.iter().map(|known| &**known));
                // A name of any length may come in; an error message stays readable.
                let name = name.chars().take(MAX_NAME).collect();
                return Err(PointError::Unknown { name, suggestion }.into());
            };
            let value = self.params()[p].check(value.into())?;
            if slots[p].replace(value).is_some() {
                return Err(PointError::Twice { name: self.names[p].clone() }.into());
            }
        }
        let missing = |p: usize| PointError::Missing {
            name: self.names[p].clone(),
            values: self.params()[p].describe(),
        };
        let values = slots.into_iter().enumerate().map(|(p, slot)| slot.ok_or_else(|| missing(p)));
        Ok(Point::new(self.names.clone(), values.collect::<Result<_, _>>()?))
    }

    /// The point of the unit cube that codes `point`.
    pub fn encode(&self, point: &Point) -> Result<Vec<f64>, SpaceError> {
        let mut u = vec![0.0; self.dim()];
        let own = self.owns(point)
            && self.params().iter().zip(point.values()).enumerate().all(|(p, (param, value))| {
                u.get_mut(self.param_coordinates(p)).is_some_and(|u| param.write_code(value, u))
            });
        if own { Ok(u) } else { Err(SpaceError::ForeignPoint { point: point.to_string() }) }
    }

    /// The typed point at a point of the unit cube.
    pub fn decode(&self, u: &[f64]) -> Result<Point, SpaceError> {
        self.check_cube(u)?;
        let values =
            self.params().iter().enumerate().map(|(p, param)| param.value_at(&u[self.param_coordinates(p)]));
        Ok(Point::new(self.names.clone(), values.collect()))
    }

    /// As [`Space::decode`], but the first `modules` modules keep the values of `kept` bit for bit.
    ///
    /// A value that a user typed may lie between two codes; decoding its code would change it by a last bit, and the
    /// module would run again for nothing.
    pub fn decode_after(&self, kept: &Point, modules: usize, u: &[f64]) -> Result<Point, SpaceError> {
        self.decode_keeping(kept, &StageSet::first(modules.min(self.modules().len())), u)
    }

    /// As [`Space::decode_after`], but for any modules: those that are named keep the values of `kept`.
    pub fn decode_keeping(&self, kept: &Point, keeps: &StageSet, u: &[f64]) -> Result<Point, SpaceError> {
        if !self.owns(kept) {
            return Err(SpaceError::ForeignPoint { point: kept.to_string() });
        }
        let mut values = self.decode(u)?.values().to_vec();
        for m in keeps.iter().take_while(|&m| m < self.modules().len()) {
            let own = self.module_params(m);
            values[own.clone()].clone_from_slice(&kept.values()[own]);
        }
        Ok(Point::new(self.names.clone(), values))
    }

    /// Moves a point of the unit cube onto the code of the values it decodes to; continuous coordinates stay.
    pub fn snap(&self, u: &mut [f64]) -> Result<(), SpaceError> {
        self.check_cube(u)?;
        for (p, param) in self.params().iter().enumerate() {
            let u = &mut u[self.param_coordinates(p)];
            if !matches!(param.domain(), Domain::Float(_)) {
                param.write_index(param.index_at(u), u);
            }
        }
        Ok(())
    }

    /// How many codes a grid coordinate has.
    pub fn grid_len(&self, coordinate: usize) -> Option<u64> {
        match self.axes().get(coordinate)? {
            Axis::Grid { len } | Axis::Category { len } => Some(*len),
            _ => None,
        }
    }

    /// Code number `index` of a grid coordinate, counted from 0; they rise.
    pub fn grid_code(&self, coordinate: usize, index: u64) -> Option<f64> {
        let len = self.grid_len(coordinate)?;
        let param = self.params().get(self.coordinate_param(coordinate)?)?;
        (index < len).then(|| param.grid_code(index))
    }

    /// The number of the code that a position on a grid coordinate snaps to.
    pub fn grid_index(&self, coordinate: usize, u: f64) -> Option<u64> {
        self.grid_len(coordinate)?;
        let param = self.params().get(self.coordinate_param(coordinate)?)?;
        (0.0..=1.0).contains(&u).then(|| param.grid_index(u))
    }
}
