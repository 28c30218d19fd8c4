// Takes weight tiles from the memory as they come and keeps a few ahead of the Linear unit, so that a late one costs nothing
// while some are left. A tile stays for `passes` cycles when the tokens outnumber the Linear unit's lanes.
module feeder #(
    parameter int WIDTH = 88,
    parameter int DEPTH = 8
) (
    input  logic             clk,
    input  logic             reset,
    input  logic             tile_valid,
    output logic             tile_ready,
    input  logic [WIDTH-1:0] tile_data,
    output logic             available,   // a tile for a first pass
    input  logic             take,        // the first pass happens in this cycle
    input  logic             first_pass,
    output logic [WIDTH-1:0] tile
);
  localparam int COUNT = $clog2(DEPTH + 1);
  logic [WIDTH-1:0] next, held_tile;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [COUNT-1:0] held;
  /* verilator lint_on UNUSEDSIGNAL */

  stream_fifo #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH)
  ) tiles (
      .clk,
      .reset,
      .limit(DEPTH[COUNT-1:0]),
      .write_valid(tile_valid),
      .write_ready(tile_ready),
      .write_data(tile_data),
      .read_valid(available),
      .read_ready(take),
      .read_data(next),
      .held
  );

  assign tile = first_pass ? next : held_tile;
  always_ff @(posedge clk) if (take) held_tile <= next;
endmodule
