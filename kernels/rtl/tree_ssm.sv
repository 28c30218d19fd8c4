// The tree-SSM unit: verifies a draft tree with P state elements a cycle. States that children wait for are in a FIFO; siblings
// take the parent's state again from a register. Before the tree it recomputes the accepted tokens of the round before, whose
// inputs the activation cache has, and writes the state after them back: one read and one write of the state a round.
module tree_ssm
  import formats::*;
#(
    parameter int TIMING_ONLY = 0,
    parameter int BN = 4,
    parameter int NS = 8,
    parameter int P = 16,
    parameter int PD = 4,      // cycles from a token's start to its state's write; 3 at least
    parameter int FD = 16,     // places of the FIFO of waiting states
    parameter int BD = 2,      // blocks between the Linear unit and this one
    parameter int MAXL = 32,
    parameter int MAXN = 40,
    parameter int MAXR = 8,
    parameter int MAXB = 64,
    parameter int MAXH = 4,
    parameter int MAXI = 4,
    localparam int NODE = $clog2(MAXN),
    localparam int TOKEN = $clog2(MAXL),
    localparam int BLOCK = $clog2(MAXB),
    localparam int TILES = (BN * NS + P - 1) / P,
    localparam int CHANNELS = P > NS ? P / NS : 1,
    localparam int TILES_OF_CHANNEL = P > NS ? 1 : NS / P,
    localparam int STATES = $clog2(MAXB * TILES),
    localparam int WAITING = $clog2(FD + 1),
    localparam int HOST = larger(P * STATE, larger(2 * NS * COEFFICIENT, BN * INPUT))
) (
    input logic clk,
    input logic reset,
    input logic [15:0] blocks,
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
    input logic block_valid,
    output logic block_ready,
    input logic [MAXL*BN*INPUT-1:0] block,
    output logic y_valid,
    output logic [15:0] y_block,
    output logic [15:0] y_tile,
    output logic [NODE-1:0] y_node,
    output logic [CHANNELS*OUTPUT-1:0] y,
    output logic finished,
    output logic deadlocked,
    output logic [WAITING-1:0] waiting_held,
    output logic waits_for_state,
    // The host loads state (0), cache (1), coefficients of a head (2: decay, step) and of a token (3: B, C), and reads 0 and 1.
    input logic host_write,
    input logic host_read,
    input logic [1:0] host_target,
    /* verilator lint_off UNUSEDSIGNAL */
    input logic [15:0] host_address,  // as wide as the largest memory may ask
    /* verilator lint_on UNUSEDSIGNAL */
    input logic [HOST-1:0] host_data,
    output logic [HOST-1:0] host_answer
);
  localparam int BLOCKS = $clog2(BD + 1);
  logic start, takes_block, takes_state, last_of_layer, block_available, state_available, stopped, push_ready;
  logic [NODE-1:0] node, next_node;
  /* verilator lint_off UNUSEDSIGNAL */
  // Counters of 16 bits suit every layer; an instance's memories may be smaller.
  logic [15:0] at_block, at_tile, at_turn, next_block, next_tile;
  logic [MAXL*BN*INPUT-1:0] block_next, block_held;
  logic [P*STATE-1:0] waiting, new_state;
  logic [BLOCKS-1:0] blocks_held;
  /* verilator lint_on UNUSEDSIGNAL */

  stream_fifo #(
      .WIDTH(TIMING_ONLY != 0 ? 1 : MAXL * BN * INPUT),
      .DEPTH(BD)
  ) block_stream (
      .clk,
      .reset,
      .limit(BD[BLOCKS-1:0]),
      .write_valid(block_valid),
      .write_ready(block_ready),
      .write_data(block[(TIMING_ONLY != 0 ? 1 : MAXL*BN*INPUT)-1:0]),
      .read_valid(block_available),
      .read_ready(start && takes_block),
      .read_data(block_next[(TIMING_ONLY != 0 ? 1 : MAXL*BN*INPUT)-1:0]),
      .held(blocks_held)
  );

  ssm_sequencer #(
      .MAXN(MAXN)
  ) sequencer (
      .clk,
      .reset,
      .blocks,
      .state_tiles,
      .interleaved,
      .initiation_interval,
      .last_node(nodes - 1'b1),
      .takes_next,
      .block_available,
      .state_available,
      .stopped,
      .start,
      .waits_for_state,
      .takes_block,
      .takes_state,
      .node,
      .block(at_block),
      .tile(at_tile),
      .turn(at_turn),
      .last_of_layer,
      .next_node,
      .next_block,
      .next_tile
  );

  // What goes through the pipeline beside the data: stage PD is where a state is written.
  logic [PD:1] valid, keep, last;
  logic [PD:1][NODE-1:0] node_of;
  logic [PD:1][15:0] block_of, tile_of;

  wire push = valid[PD] && keep[PD];
  assign stopped = push && !push_ready;
  // The read that would make room is behind the stopped pipeline.
  assign deadlocked = stopped;

  always_ff @(posedge clk) begin
    if (reset) begin
      valid <= '0;
      finished <= 1'b0;
    end else if (!stopped) begin
      valid <= {valid[PD-1:1], start};
      keep <= {keep[PD-1:1], kept[node]};
      last <= {last[PD-1:1], last_of_layer};
      node_of <= {node_of[PD-1:1], node};
      block_of <= {block_of[PD-1:1], at_block};
      tile_of <= {tile_of[PD-1:1], at_tile};
      if (valid[PD] && last[PD]) finished <= 1'b1;
    end
  end

  stream_fifo #(
      .WIDTH(TIMING_ONLY != 0 ? 1 : P * STATE),
      .DEPTH(FD)
  ) waiting_states (
      .clk,
      .reset,
      .limit(fifo_depth),
      .write_valid(push),
      .write_ready(push_ready),
      .write_data(new_state[(TIMING_ONLY != 0 ? 1 : P*STATE)-1:0]),
      .read_valid(state_available),
      .read_ready(start && takes_state),
      .read_data(waiting[(TIMING_ONLY != 0 ? 1 : P*STATE)-1:0]),
      .held(waiting_held)
  );

  if (TIMING_ONLY != 0) begin : g_timing
    /* verilator lint_off UNUSEDSIGNAL */
    wire unused = ^{block, block_next, block_held, waiting, from_memory, accepted, blocks_of_head_log2, input_shift, cache_bank,
        replayed, at_turn, next_node, next_block, next_tile, node_of, block_of, tile_of, host_write, host_read, host_target,
        host_address, host_data};
    /* verilator lint_on UNUSEDSIGNAL */
    assign block_held = '0;
    assign block_next[MAXL*BN*INPUT-1:1] = '0;
    assign waiting[P*STATE-1:1] = '0;
    assign new_state = '0;
    assign y_valid = 1'b0;
    assign y_block = '0;
    assign y_tile = '0;
    assign y_node = '0;
    assign y = '0;
    assign host_answer = '0;
  end else begin : g_data
    localparam int COEFFICIENTS = 2 * NS * COEFFICIENT;
    logic [P*STATE-1:0] memory_state, parent;
    logic [MAXI-1:0][P*STATE-1:0] parents;
    logic [BN*INPUT-1:0] cached, x;
    logic [31:0] of_head;
    logic [COEFFICIENTS-1:0] of_token;
    logic [CHANNELS*OUTPUT-1:0] partial_sums;
    logic [MAXL*BN*INPUT-1:0] block_now;

    // Operands of the token that starts.
    wire replays = node < replayed;
    wire [TOKEN-1:0] token = TOKEN'(node - replayed);
    assign block_now = takes_block ? block_next : block_held;
    assign x = replays ? cached : block_now[32'(token)*BN*INPUT+:BN*INPUT];
    assign parent = from_memory[node] ? memory_state : takes_state ? waiting : parents[at_turn[$clog2(MAXI)-1:0]];
    always_ff @(posedge clk) begin
      if (start && takes_block) block_held <= block_next;
      if (start) parents[at_turn[$clog2(MAXI)-1:0]] <= parent;
    end

    wire [15:0] next_head = next_block >> blocks_of_head_log2;
    wire [TOKEN-1:0] next_accepted = accepted[32'(next_node)%MAXR*TOKEN+:TOKEN];
    wire writes_back = valid[PD] && !stopped && replayed != 0 && node_of[PD] == replayed - 1'b1;
    /* verilator lint_off UNUSEDSIGNAL */
    wire [31:0] next_state_word = 32'(next_block) * TILES + 32'(next_tile);
    wire [31:0] back_word = 32'(block_of[PD]) * TILES + 32'(tile_of[PD]);
    /* verilator lint_on UNUSEDSIGNAL */
    wire host_writes_state = host_write && host_target == 2'd0;

    memory_1r1w #(
        .WIDTH(P * STATE),
        .DEPTH(MAXB * TILES)
    ) state_memory (
        .clk,
        .write(writes_back || host_writes_state),
        .write_address(host_writes_state ? host_address[STATES-1:0] : back_word[STATES-1:0]),
        .write_data(host_writes_state ? host_data[P*STATE-1:0] : new_state),
        .read_address(host_read ? host_address[STATES-1:0] : next_state_word[STATES-1:0]),
        .read_data(memory_state)
    );

    activation_cache #(
        .BN(BN),
        .MAXL(MAXL),
        .MAXB(MAXB)
    ) cache (
        .clk,
        .bank_written(cache_bank),
        .write(start && at_tile == 0 && !replays),
        .write_block(at_block[BLOCK-1:0]),
        .write_token(token),
        .write_data(x),
        .read_block(next_block[BLOCK-1:0]),
        .read_token(next_accepted),
        .read_data(cached),
        .host_write(host_write && host_target == 2'd1),
        .host_read,
        .host_address(host_address[$clog2(2*MAXB*MAXL)-1:0]),
        .host_data(host_data[BN*INPUT-1:0])
    );

    memory_1r1w #(
        .WIDTH(32),
        .DEPTH(MAXN * MAXH)
    ) head_coefficients (
        .clk,
        .write(host_write && host_target == 2'd2),
        .write_address(host_address[$clog2(MAXN*MAXH)-1:0]),
        .write_data(host_data[31:0]),
        .read_address($clog2(MAXN * MAXH)'(32'(next_node) * MAXH + 32'(next_head))),
        .read_data(of_head)
    );

    memory_1r1w #(
        .WIDTH(COEFFICIENTS),
        .DEPTH(MAXN)
    ) token_coefficients (
        .clk,
        .write(host_write && host_target == 2'd3),
        .write_address(host_address[NODE-1:0]),
        .write_data(host_data[COEFFICIENTS-1:0]),
        .read_address(next_node),
        .read_data(of_token)
    );

    ssm_lanes #(
        .BN(BN),
        .NS(NS),
        .P(P),
        .PD(PD)
    ) lanes (
        .clk,
        .stopped,
        .tile(at_tile),
        .parent,
        .x,
        .decay(of_head[15:0]),
        .step(of_head[31:16]),
        .b(of_token[NS*COEFFICIENT-1:0]),
        .c(of_token[NS*COEFFICIENT+:NS*COEFFICIENT]),
        .input_shift,
        .state(new_state),
        .partial_sums
    );

    // A channel's y is complete with the last of its tiles.
    logic [CHANNELS*OUTPUT-1:0] y_sum;
    wire [NODE-1:0] y_token = node_of[PD] - replayed;
    wire tail = valid[PD] && !stopped && node_of[PD] >= replayed;
    if (TILES_OF_CHANNEL == 1) begin : g_whole_channels
      assign y_sum = partial_sums;
    end else begin : g_parts_of_channels
      logic [OUTPUT-1:0] sums[MAXL*BN];
      wire [15:0] part = tile_of[PD] % 16'(TILES_OF_CHANNEL);
      wire [$clog2(MAXL*BN)-1:0] place = $clog2(MAXL * BN)'(32'(y_token) * BN + 32'(tile_of[PD]) / TILES_OF_CHANNEL);
      assign y_sum = (part == 0 ? '0 : sums[place]) + partial_sums;
      always_ff @(posedge clk) if (tail) sums[place] <= y_sum;
    end
    always_ff @(posedge clk) begin
      y_valid <= !reset && tail && (tile_of[PD] % 16'(TILES_OF_CHANNEL)) == 16'(TILES_OF_CHANNEL - 1);
      y_block <= block_of[PD];
      y_tile <= tile_of[PD] / 16'(TILES_OF_CHANNEL);
      y_node <= y_token;
      y <= y_sum;
    end

    assign host_answer = host_target == 2'd0 ? HOST'(memory_state) : HOST'(cached);
  end
endmodule
