// Number formats and rounding, the same as kernels/hls/formats.h: every right shift rounds half up, what leaves 16 bits is set
// to the nearest end.
package formats;
  localparam int WEIGHT = 4;
  localparam int SCALE = 6;
  localparam int ACTIVATION = 8;
  localparam int ACCUMULATOR = 32;
  localparam int INPUT = 16;
  localparam int COEFFICIENT = 8;
  localparam int STATE = 16;
  localparam int OUTPUT = 40;
  localparam int STEP_FRACTION = 12;
  localparam int DECAY_FRACTION = 15;

  function automatic int larger(int a, int b);
    return a > b ? a : b;
  endfunction

  function automatic logic signed [47:0] rounded_shift(logic signed [47:0] value, logic [4:0] shift);
    logic signed [47:0] half;
    half = shift == 0 ? 48'sd0 : 48'sd1 <<< (shift - 5'd1);
    return (value + half) >>> shift;
  endfunction

  function automatic logic signed [15:0] saturated(logic signed [47:0] value);
    if (value > 48'sd32767) return 16'sd32767;
    if (value < -48'sd32768) return -16'sd32768;
    return value[15:0];
  endfunction
endpackage
