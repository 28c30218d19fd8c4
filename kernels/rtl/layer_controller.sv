// Runs one layer: three jobs of the Linear unit (B, C and dt; x with the gate z; the output projection), the norm before the first
// and the gated norm before the last. The blocks of x feed the SSM unit, those of the gate are spread evenly over them. Norms are
// times here: their arithmetic is not part of the RTL.
module layer_controller (
    input  logic              clk,
    input  logic              reset,
    // Of each job, job 0 in the lowest bits; job 1 has blocks of the gate beside those of x.
    input  logic [ 2:0][15:0] job_blocks,
    input  logic [ 2:0][15:0] job_tiles,
    input  logic [15:0]       gate_blocks,
    input  logic [ 7:0]       passes,
    input  logic [15:0]       output_activations,  // address of the output projection's activations
    input  logic [15:0]       entry_norm_cycles,   // iterations; 0: no norm
    input  logic [15:0]       gated_norm_cycles,   // iterations
    input  logic [ 7:0]       norm_depth,          // cycles of an iteration
    input  logic              tile_available,
    input  logic              linear_stopped,
    input  logic              linear_busy,
    input  logic              inputs_finished,     // the last block of job 1 left the Linear unit
    input  logic              ssm_finished,
    output logic              start,               // the Linear unit takes a tile for one pass
    output logic              take_tile,
    output logic              first_pass,
    output logic [ 7:0]       pass,
    output logic              first_tile,
    output logic              last_of_block,
    output logic              ends_inputs,
    output logic              to_ssm,
    output logic [ 1:0]       job,
    output logic [15:0]       next_activation,     // address of the activations of the next cycle
    output logic              waits_for_tile,
    output logic              finished,
    output logic [31:0]       cycles
);
  localparam logic [1:0] IN = 2'd1, OUT = 2'd2;
  logic [15:0] block, tile, activation;
  logic [31:0] norm_timer;
  logic [16:0] owed, owed_after, owed_next;  // blocks of the gate that are due, times the blocks of x
  logic all_done, inputs_done, in_gate;

  wire entry_ready = entry_norm_cycles == 0 || cycles >= 32'(entry_norm_cycles) + 32'(norm_depth);
  wire norm_runs = ssm_finished && inputs_done;
  wire output_ready = norm_runs && norm_timer >= 32'(gated_norm_cycles) + 32'(norm_depth);
  wire absent = job_blocks[job] == 0;
  wire may_start = !all_done && !absent && entry_ready && (job != OUT || output_ready) && !linear_stopped;
  wire last_pass = pass == passes - 8'd1;
  wire last_tile = tile == job_tiles[job] - 16'd1;

  assign first_pass = pass == 0;
  assign start = may_start && (!first_pass || tile_available);
  assign waits_for_tile = may_start && first_pass && !tile_available;
  assign take_tile = start && first_pass;
  assign first_tile = tile == 0;
  assign last_of_block = last_tile && last_pass;
  wire [15:0] blocks = job == IN ? job_blocks[IN] + gate_blocks : job_blocks[job];
  wire last_of_job = last_of_block && block == blocks - 16'd1;
  assign ends_inputs = last_of_job && job == IN;
  assign to_ssm = job == IN && !in_gate;
  assign finished = all_done && !linear_busy && (ssm_finished || job_blocks[IN] == 0);

  wire job_ends = !all_done && (absent || (start && last_of_job));
  always_comb begin
    next_activation = activation;
    if (start) next_activation = last_of_block ? (job == OUT ? output_activations : '0) : activation + 16'd1;
    if (job_ends) next_activation = job == IN ? output_activations : '0;
    owed_after = owed + (in_gate ? 17'd0 : {1'b0, gate_blocks});
    owed_next = owed_after < {1'b0, job_blocks[IN]} ? owed_after : owed_after - {1'b0, job_blocks[IN]};
  end

  always_ff @(posedge clk) begin
    if (reset) begin
      job <= '0;
      block <= '0;
      tile <= '0;
      pass <= '0;
      activation <= '0;
      norm_timer <= '0;
      all_done <= 1'b0;
      inputs_done <= 1'b0;
      in_gate <= 1'b0;
      owed <= '0;
      cycles <= '0;
    end else begin
      if (!finished) cycles <= cycles + 32'd1;
      if (norm_runs) norm_timer <= norm_timer + 32'd1;
      if (inputs_finished) inputs_done <= 1'b1;
      if (start && last_of_block && job == IN) begin
        owed <= owed_next;
        in_gate <= owed_after >= {1'b0, job_blocks[IN]};
      end
      activation <= next_activation;
      if (start) begin
        pass <= last_pass ? '0 : pass + 8'd1;
        if (last_pass) tile <= last_tile ? '0 : tile + 16'd1;
        if (last_of_block) block <= last_of_job ? '0 : block + 16'd1;
      end
      if (job_ends) begin
        if (job == OUT) all_done <= 1'b1;
        else job <= job + 2'd1;
      end
    end
  end
endmodule
