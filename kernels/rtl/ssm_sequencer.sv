// The order in which the SSM unit takes its work, and the interlock that makes a child wait for its parent: blocks; in a block
// groups of `interleaved` state tiles; in a group the tokens, recomputed ones first, then the tree breadth first; of each token
// the tiles of the group in turn.
module ssm_sequencer #(
    parameter int MAXN = 40
) (
    input  logic                    clk,
    input  logic                    reset,
    input  logic [            15:0] blocks,
    input  logic [            15:0] state_tiles,
    input  logic [            15:0] interleaved,
    input  logic [             7:0] initiation_interval,
    input  logic [$clog2(MAXN)-1:0] last_node,
    input  logic [        MAXN-1:0] takes_next,            // of each token: its parent's state is the FIFO's next one
    input  logic                    block_available,
    input  logic                    state_available,
    input  logic                    stopped,
    output logic                    start,
    output logic                    waits_for_state,
    output logic                    takes_block,
    output logic                    takes_state,
    output logic [$clog2(MAXN)-1:0] node,
    output logic [            15:0] block,
    output logic [            15:0] tile,
    output logic [            15:0] turn,
    output logic                    last_of_layer,
    // Where it will be in the next cycle, for memories that want their address one cycle ahead.
    output logic [$clog2(MAXN)-1:0] next_node,
    output logic [            15:0] next_block,
    output logic [            15:0] next_tile
);
  logic [15:0] first, next_first, next_turn;
  logic [7:0] gap;

  wire running = block != blocks;
  wire last_turn = turn == interleaved - 16'd1 || tile == state_tiles - 16'd1;
  wire last_token = node == last_node;
  wire last_group = {1'b0, first} + {1'b0, interleaved} >= {1'b0, state_tiles};
  wire ready = running && gap == 0 && !stopped && (!takes_block || block_available);

  assign tile = first + turn;
  assign next_tile = next_first + next_turn;
  assign takes_block = tile == 0 && node == 0;
  assign takes_state = takes_next[node];
  assign start = ready && (!takes_state || state_available);
  assign waits_for_state = ready && takes_state && !state_available;
  assign last_of_layer = last_turn && last_token && last_group && block == blocks - 16'd1;

  always_comb begin
    next_turn = turn;
    next_node = node;
    next_first = first;
    next_block = block;
    if (start) begin
      next_turn = last_turn ? '0 : turn + 1'b1;
      if (last_turn) next_node = last_token ? '0 : node + 1'b1;
      if (last_turn && last_token) next_first = last_group ? '0 : first + interleaved;
      if (last_turn && last_token && last_group) next_block = block + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (reset) begin
      turn <= '0;
      node <= '0;
      first <= '0;
      block <= '0;
      gap <= '0;
    end else begin
      turn <= next_turn;
      node <= next_node;
      first <= next_first;
      block <= next_block;
      if (start) gap <= initiation_interval - 1'b1;
      else if (gap != 0 && !stopped) gap <= gap - 1'b1;
    end
  end
endmodule
