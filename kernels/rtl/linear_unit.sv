// The Linear unit: one tile of BN × TK INT4 weights meets LT tokens a cycle. Two stages: products of a tile, then the sums of a
// block. A finished block leaves in the second stage; when nobody takes it, both stages stand still.
module linear_unit
  import formats::*;
#(
    parameter int TIMING_ONLY = 0,
    parameter int TK = 4,
    parameter int BN = 4,
    parameter int LT = 16,
    parameter int MAXL = 32,
    localparam int WEIGHTS = BN * (TK * WEIGHT + SCALE),
    localparam int PASSES = MAXL / LT
) (
    input logic clk,
    input logic reset,
    // From the controller, with the tile of this cycle.
    input logic start,
    input logic first_tile,
    input logic last_of_block,
    input logic to_ssm,
    input logic ends_inputs,
    input logic [7:0] pass,
    output logic stopped,
    input logic [WEIGHTS-1:0] tile,
    input logic [LT*TK*ACTIVATION-1:0] activations,
    input logic [4:0] output_shift,
    // A block for the SSM unit, requantised, and the sums of every block for the buffers.
    output logic block_valid,
    input logic block_ready,
    output logic [MAXL*BN*INPUT-1:0] block,
    output logic sums_valid,
    output logic [MAXL*BN*ACCUMULATOR-1:0] sums,
    output logic inputs_finished,
    output logic busy
);
  logic valid, last, ssm, ends_inputs_held;
  assign block_valid = valid && last && ssm;
  assign stopped = block_valid && !block_ready;
  assign sums_valid = valid && last && !stopped;
  assign inputs_finished = sums_valid && ends_inputs_held;
  assign busy = valid;

  always_ff @(posedge clk) begin
    if (reset) valid <= 1'b0;
    else if (!stopped) begin
      valid <= start;
      last <= last_of_block;
      ssm <= to_ssm;
      ends_inputs_held <= ends_inputs;
    end
  end

  if (TIMING_ONLY != 0) begin : g_timing
    /* verilator lint_off UNUSEDSIGNAL */
    wire unused = ^{first_tile, pass, tile, activations, output_shift};
    /* verilator lint_on UNUSEDSIGNAL */
    assign block = '0;
    assign sums = '0;
  end else begin : g_data
    logic signed [LT-1:0][BN-1:0][ACCUMULATOR-1:0] products, products_next;
    logic signed [PASSES-1:0][LT-1:0][BN-1:0][ACCUMULATOR-1:0] held, held_next;
    logic first;
    logic [7:0] pass_of_products;

    always_comb begin
      for (int token = 0; token < LT; token++) begin
        for (int out = 0; out < BN; out++) begin
          logic signed [ACCUMULATOR-1:0] sum;
          sum = '0;
          for (int in = 0; in < TK; in++) begin
            sum = sum + ACCUMULATOR'($signed(tile[(out*TK+in)*WEIGHT+:WEIGHT])) *
                ACCUMULATOR'($signed(activations[(token*TK+in)*ACTIVATION+:ACTIVATION]));
          end
          products_next[token][out] = sum * ACCUMULATOR'(tile[BN*TK*WEIGHT+out*SCALE+:SCALE]);
        end
      end
    end

    always_comb begin
      held_next = held;
      for (int p = 0; p < PASSES; p++) begin
        for (int token = 0; token < LT; token++) begin
          for (int out = 0; out < BN; out++) begin
            if (pass_of_products == p[7:0]) begin
              held_next[p][token][out] = (first ? '0 : held[p][token][out]) + products[token][out];
            end
          end
        end
      end
    end

    assign sums = held_next;
    always_comb begin
      for (int p = 0; p < PASSES; p++) begin
        for (int token = 0; token < LT; token++) begin
          for (int out = 0; out < BN; out++) begin
            block[((p*LT+token)*BN+out)*INPUT+:INPUT] =
                saturated(rounded_shift(48'($signed(held_next[p][token][out])), output_shift));
          end
        end
      end
    end

    always_ff @(posedge clk) begin
      if (!stopped) begin
        first <= first_tile;
        pass_of_products <= pass;
        if (start) products <= products_next;
        if (valid) held <= held_next;
      end
    end
  end
endmodule
