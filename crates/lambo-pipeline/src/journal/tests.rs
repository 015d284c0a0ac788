//! What every journal must do, and what the SQLite one does besides.
