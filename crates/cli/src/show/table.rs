//! Columns that line up.

/// Rows of cells. Numbers stand to the right, words to the left; the last column is not padded.
pub(crate) struct Table {
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// One letter a column: `l` to the left, `r` to the right.
    pub(crate) fn new(columns: &str) -> Self {
        Self {
            right: columns.chars().map(|c| c == 'r').collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// The lines, each indented by two spaces.
    pub(crate) fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.right.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
                match self.right[column] {
                    true => line.extend([pad.as_str(), cell]),
                    false => line.extend([cell, pad.as_str()]),
                }
                line.push_str("  ");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new("lrl");
        table.row(["a".into(), "1".into(), "x".into()]);
        table.row(["long".into(), "1,000".into(), String::new()]);
        assert_eq!(table.text(), "  a         1  x\n  long  1,000\n");
    }
}
