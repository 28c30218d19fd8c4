// On-chip memory with a registered read, as block and ultra RAM have: data belong to the address of the cycle before.
module memory_1r1w #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 16
) (
    input  logic                     clk,
    input  logic                     write,
    input  logic [$clog2(DEPTH)-1:0] write_address,
    input  logic [        WIDTH-1:0] write_data,
    input  logic [$clog2(DEPTH)-1:0] read_address,
    output logic [        WIDTH-1:0] read_data
);
  logic [WIDTH-1:0] words[DEPTH];

  always_ff @(posedge clk) begin
    if (write) words[write_address] <= write_data;
    read_data <= words[read_address];
  end
endmodule
