// The SSM unit's arithmetic for one tile of P state elements: h = decay · h_parent + (step · x) · B, then the tile's share of
// y = h · C. Three stages of products and sums; synthesis moves the registers of the delay that follows into them.
module ssm_lanes
  import formats::*;
#(
    parameter int BN = 4,
    parameter int NS = 8,
    parameter int P = 16,
    parameter int PD = 4,
    localparam int CHANNELS = P > NS ? P / NS : 1,  // of a tile
    localparam int PART = P > NS ? NS : P           // state elements of one channel in a tile
) (
    input logic clk,
    input logic stopped,
    input logic [15:0] tile,
    input logic [P*STATE-1:0] parent,
    input logic [BN*INPUT-1:0] x,
    input logic [15:0] decay,
    input logic [15:0] step,
    input logic [NS*COEFFICIENT-1:0] b,
    input logic [NS*COEFFICIENT-1:0] c,
    input logic [3:0] input_shift,
    output logic [P*STATE-1:0] state,                // after PD cycles
    output logic [CHANNELS*OUTPUT-1:0] partial_sums
);
  // Operands, selected in the cycle of the start.
  logic [P*STATE-1:0] parent_1;
  logic signed [P-1:0][INPUT-1:0] x_1;
  logic signed [P-1:0][COEFFICIENT-1:0] b_1, c_1, c_2;
  logic [15:0] decay_1, step_1;
  // Products.
  logic signed [P-1:0][47:0] kept_2;
  logic signed [P-1:0][15:0] scaled_2;
  logic signed [P-1:0][COEFFICIENT-1:0] b_2;
  // New states, PD - 2 registers of them.
  logic [PD-3:0][P*STATE-1:0] states;
  logic [PD-3:0][P*COEFFICIENT-1:0] cs;
  logic [P*STATE-1:0] new_state;

  always_comb begin
    for (int lane = 0; lane < P; lane++) begin
      new_state[lane*STATE+:STATE] = saturated(rounded_shift(
          kept_2[lane] + ((48'($signed(scaled_2[lane])) * 48'($signed(b_2[lane]))) <<< input_shift), 5'(DECAY_FRACTION)));
    end
  end

  always_ff @(posedge clk) begin
    if (!stopped) begin
      parent_1 <= parent;
      decay_1 <= decay;
      step_1 <= step;
      for (int lane = 0; lane < P; lane++) begin
        x_1[lane] <= x[((int'(tile)*P+lane)/NS)%BN*INPUT+:INPUT];
        b_1[lane] <= b[(int'(tile)*P+lane)%NS*COEFFICIENT+:COEFFICIENT];
        c_1[lane] <= c[(int'(tile)*P+lane)%NS*COEFFICIENT+:COEFFICIENT];
        kept_2[lane] <= 48'($signed({1'b0, decay_1})) * 48'($signed(parent_1[lane*STATE+:STATE]));
        scaled_2[lane] <= saturated(
            rounded_shift(48'($signed({1'b0, step_1})) * 48'($signed(x_1[lane])), 5'(STEP_FRACTION)));
        b_2[lane] <= b_1[lane];
        c_2[lane] <= c_1[lane];
      end
      states[0] <= new_state;
      cs[0] <= c_2;
      for (int stage = 1; stage < PD - 2; stage++) begin
        states[stage] <= states[stage-1];
        cs[stage] <= cs[stage-1];
      end
    end
  end

  assign state = states[PD-3];
  always_comb begin
    for (int channel = 0; channel < CHANNELS; channel++) begin
      logic signed [OUTPUT-1:0] sum;
      sum = '0;
      for (int part = 0; part < PART; part++) begin
        sum = sum + OUTPUT'($signed(state[(channel*PART+part)*STATE+:STATE])) *
            OUTPUT'($signed(cs[PD-3][(channel*PART+part)*COEFFICIENT+:COEFFICIENT]));
      end
      partial_sums[channel*OUTPUT+:OUTPUT] = sum;
    end
  end
endmodule
