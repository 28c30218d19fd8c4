// A stream: what is written in one cycle is visible in the next, and a place that is freed in one cycle can be filled in the next.
module stream_fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 8
) (
    input  logic                         clk,
    input  logic                         reset,
    input  logic [$clog2(DEPTH + 1)-1:0] limit,  // places in use, at most DEPTH
    input  logic                         write_valid,
    output logic                         write_ready,
    input  logic [            WIDTH-1:0] write_data,
    output logic                         read_valid,
    input  logic                         read_ready,
    output logic [            WIDTH-1:0] read_data,
    output logic [$clog2(DEPTH + 1)-1:0] held
);
  localparam int POINTER = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int LAST = DEPTH - 1;

  logic [WIDTH-1:0] places[DEPTH];
  logic [POINTER-1:0] write_place, read_place;

  wire writes = write_valid && write_ready;
  wire reads = read_valid && read_ready;
  assign write_ready = held < limit;
  assign read_valid = held != 0;
  assign read_data = places[read_place];

  always_ff @(posedge clk) begin
    if (writes) places[write_place] <= write_data;
    if (reset) begin
      write_place <= '0;
      read_place <= '0;
      held <= '0;
    end else begin
      if (writes) write_place <= write_place == LAST[POINTER-1:0] ? '0 : write_place + 1'b1;
      if (reads) read_place <= read_place == LAST[POINTER-1:0] ? '0 : read_place + 1'b1;
      if (writes && !reads) held <= held + 1'b1;
      if (reads && !writes) held <= held - 1'b1;
    end
  end
endmodule
