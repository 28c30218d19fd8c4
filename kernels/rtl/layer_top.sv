// One layer of the accelerator: feeder, Linear unit, tree-SSM unit with its activation cache, and the controller. Its registers
// are inputs that the host keeps still while a layer runs; a reset starts the next one. With TIMING_ONLY the data paths are left
// out, so that layers of any size can be simulated; cycles are the same.
module layer_top
  import formats::*;
#(
    parameter int TIMING_ONLY = 0,
    parameter int TK = 4,       // inputs of a weight tile
    parameter int BN = 4,       // outputs of a weight tile = channels of a block
    parameter int LT = 16,      // tokens that a tile meets in one cycle
    parameter int NS = 8,       // state elements of a channel
    parameter int P = 16,       // state elements in one cycle
    parameter int PD = 4,       // cycles from a token's start in the SSM unit to its state's write
    parameter int FD = 32,      // places of the FIFO of waiting states
    parameter int MAXL = 32,    // tokens of a tree
    parameter int MAXN = 40,    // with recomputed ones
    parameter int MAXR = 8,     // recomputed ones
    parameter int MAXB = 64,    // blocks
    parameter int MAXH = 4,     // heads
    parameter int MAXI = 4,     // interleaved state tiles
    parameter int MAXT = 1024,  // words of activations
    localparam int NODE = $clog2(MAXN),
    localparam int TOKEN = $clog2(MAXL),
    localparam int CHANNELS = P > NS ? P / NS : 1,
    localparam int WEIGHTS = BN * (TK * WEIGHT + SCALE),
    localparam int WORD = LT * TK * ACTIVATION,
    localparam int HOST = larger(P * STATE, larger(2 * NS * COEFFICIENT, BN * INPUT)),
    localparam int WAITING = $clog2(FD + 1)
) (
    input logic clk,
    input logic reset,
    input logic [2:0][15:0] job_blocks,
    input logic [2:0][15:0] job_tiles,
    input logic [15:0] gate_blocks,
    input logic [7:0] passes,
    input logic [15:0] output_activations,
    input logic [15:0] entry_norm_cycles,
    input logic [15:0] gated_norm_cycles,
    input logic [7:0] norm_depth,
    input logic [4:0] output_shift,
    input logic [15:0] state_tiles,
    input logic [15:0] interleaved,
    input logic [7:0] initiation_interval,
    input logic [WAITING-1:0] fifo_depth,
    input logic [NODE-1:0] nodes,
    input logic [NODE-1:0] replayed,
    input logic [MAXN-1:0] from_memory,
    input logic [MAXN-1:0] takes_next,
    input logic [MAXN-1:0] kept,
    input logic [MAXR*TOKEN-1:0] accepted,
    input logic [7:0] blocks_of_head_log2,
    input logic [3:0] input_shift,
    input logic cache_bank,
    // Weight tiles from the memory.
    input logic tile_valid,
    output logic tile_ready,
    input logic [WEIGHTS-1:0] tile_data,
    // Sums of every block, and y.
    output logic sums_valid,
    output logic [MAXL*BN*ACCUMULATOR-1:0] sums,
    output logic y_valid,
    output logic [15:0] y_block,
    output logic [15:0] y_tile,
    output logic [NODE-1:0] y_node,
    output logic [CHANNELS*OUTPUT-1:0] y,
    // State.
    output logic finished,
    output logic deadlocked,
    output logic [31:0] cycles,
    output logic [WAITING-1:0] waiting_held,
    output logic waits_for_state,
    output logic waits_for_tile,
    output logic waits_for_ssm,
    // Host port: activations (4) and what tree_ssm names (0 to 3).
    input logic host_write,
    input logic host_read,
    input logic [2:0] host_target,
    input logic [15:0] host_address,
    input logic [HOST-1:0] host_data,
    input logic [WORD-1:0] host_activations,
    output logic [HOST-1:0] host_answer
);
  logic tile_available, take_tile, first_pass, start, first_tile, last_of_block, ends_inputs, to_ssm, stopped, linear_busy;
  logic inputs_finished, ssm_finished, block_valid, block_ready;
  logic [7:0] pass;
  logic [1:0] job;
  logic [15:0] next_activation;
  logic [WEIGHTS-1:0] tile;
  logic [WORD-1:0] activations;
  logic [MAXL*BN*INPUT-1:0] block;
  assign waits_for_ssm = stopped;

  layer_controller controller (
      .clk,
      .reset,
      .job_blocks,
      .job_tiles,
      .gate_blocks,
      .passes,
      .output_activations,
      .entry_norm_cycles,
      .gated_norm_cycles,
      .norm_depth,
      .tile_available,
      .linear_stopped(stopped),
      .linear_busy,
      .inputs_finished,
      .ssm_finished,
      .start,
      .take_tile,
      .first_pass,
      .pass,
      .first_tile,
      .last_of_block,
      .ends_inputs,
      .to_ssm,
      .job,
      .next_activation,
      .waits_for_tile,
      .finished,
      .cycles
  );

  if (TIMING_ONLY != 0) begin : g_timing
    logic unused_tile;
    feeder #(
        .WIDTH(1)
    ) weight_feeder (
        .clk,
        .reset,
        .tile_valid,
        .tile_ready,
        .tile_data(tile_data[0]),
        .available(tile_available),
        .take(take_tile),
        .first_pass,
        .tile(unused_tile)
    );
    /* verilator lint_off UNUSEDSIGNAL */
    wire unused = ^{unused_tile, tile_data, next_activation, host_activations, host_target, job};
    /* verilator lint_on UNUSEDSIGNAL */
    assign tile = '0;
    assign activations = '0;
  end else begin : g_data
    /* verilator lint_off UNUSEDSIGNAL */
    wire unused = ^{job, next_activation};
    /* verilator lint_on UNUSEDSIGNAL */
    feeder #(
        .WIDTH(WEIGHTS)
    ) weight_feeder (
        .clk,
        .reset,
        .tile_valid,
        .tile_ready,
        .tile_data,
        .available(tile_available),
        .take(take_tile),
        .first_pass,
        .tile
    );
    memory_1r1w #(
        .WIDTH(WORD),
        .DEPTH(MAXT)
    ) activation_memory (
        .clk,
        .write(host_write && host_target == 3'd4),
        .write_address(host_address[$clog2(MAXT)-1:0]),
        .write_data(host_activations),
        .read_address(next_activation[$clog2(MAXT)-1:0]),
        .read_data(activations)
    );
  end

  linear_unit #(
      .TIMING_ONLY(TIMING_ONLY),
      .TK(TK),
      .BN(BN),
      .LT(LT),
      .MAXL(MAXL)
  ) linear (
      .clk,
      .reset,
      .start,
      .first_tile,
      .last_of_block,
      .to_ssm,
      .ends_inputs,
      .pass,
      .stopped,
      .tile,
      .activations,
      .output_shift,
      .block_valid,
      .block_ready,
      .block,
      .sums_valid,
      .sums,
      .inputs_finished,
      .busy(linear_busy)
  );

  tree_ssm #(
      .TIMING_ONLY(TIMING_ONLY),
      .BN(BN),
      .NS(NS),
      .P(P),
      .PD(PD),
      .FD(FD),
      .MAXL(MAXL),
      .MAXN(MAXN),
      .MAXR(MAXR),
      .MAXB(MAXB),
      .MAXH(MAXH),
      .MAXI(MAXI)
  ) ssm (
      .clk,
      .reset,
      .blocks(job_blocks[1]),
      .state_tiles,
      .interleaved,
      .initiation_interval,
      .fifo_depth,
      .nodes,
      .replayed,
      .from_memory,
      .takes_next,
      .kept,
      .accepted,
      .blocks_of_head_log2,
      .input_shift,
      .cache_bank,
      .block_valid,
      .block_ready,
      .block,
      .y_valid,
      .y_block,
      .y_tile,
      .y_node,
      .y,
      .finished(ssm_finished),
      .deadlocked,
      .waiting_held,
      .waits_for_state,
      .host_write(host_write && !host_target[2]),
      .host_read,
      .host_target(host_target[1:0]),
      .host_address,
      .host_data,
      .host_answer
  );
endmodule
