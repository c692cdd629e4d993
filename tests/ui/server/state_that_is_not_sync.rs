use std::cell::Cell;

fn main() {
    let _ = mcp_runtime::server!().state(Cell::new(1)).build();
}
