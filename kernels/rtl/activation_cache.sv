// Keeps the inputs x of a round's tokens for the next round, which recomputes those that were accepted instead of storing the
// state of every token. Two banks of [block][token]: one is read while the other is written.
module activation_cache
  import formats::*;
#(
    parameter int BN = 4,
    parameter int MAXL = 32,
    parameter int MAXB = 64,
    localparam int WORDS = 2 * MAXB * MAXL,
    localparam int ADDRESS = $clog2(WORDS)
) (
    input logic clk,
    input logic bank_written,
    input logic write,
    input logic [$clog2(MAXB)-1:0] write_block,
    input logic [$clog2(MAXL)-1:0] write_token,
    input logic [BN*INPUT-1:0] write_data,
    input logic [$clog2(MAXB)-1:0] read_block,
    input logic [$clog2(MAXL)-1:0] read_token,
    output logic [BN*INPUT-1:0] read_data,
    // The host fills and inspects any word while the unit rests.
    input logic host_write,
    input logic host_read,
    input logic [ADDRESS-1:0] host_address,
    input logic [BN*INPUT-1:0] host_data
);
  memory_1r1w #(
      .WIDTH(BN * INPUT),
      .DEPTH(WORDS)
  ) storage (
      .clk,
      .write(write || host_write),
      .write_address(host_write ? host_address : {bank_written, write_block, write_token}),
      .write_data(host_write ? host_data : write_data),
      .read_address(host_read ? host_address : {!bank_written, read_block, read_token}),
      .read_data
  );
endmodule
