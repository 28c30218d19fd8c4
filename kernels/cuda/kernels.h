// The CUDA kernels, for the table in cuda/backend.cpp.
#pragma once

#include "kernels/backend.h"

namespace treeline::kernels::cuda {

void scan(const Scan& scan, Queue queue);
void tree_scan(const TreeScan& scan, Queue queue);
void convolution_update(const ConvolutionUpdate& update, Queue queue);
void convolution_advance(const ConvolutionAdvance& advance, Queue queue);
void attention(const Attention& attention, Queue queue);
void linear(const Linear& linear, Queue queue);
void rms_norm(const RmsNorm& norm, Queue queue);
void gated_rms_norm(const GatedRmsNorm& norm, Queue queue);
void gated_activation(const GatedActivation& activation, Queue queue);
void rotary(const Rotary& rotary, Queue queue);
void top_choices(const TopChoices& choices, Queue queue);
void greedy_verification(const GreedyVerification& verification, Queue queue);
void rejection_verification(const RejectionVerification& verification, Queue queue);
void gather_rows(const GatherRows& gather, Queue queue);
void read_probe(const ReadProbe& probe, Queue queue);
void write_probe(const WriteProbe& probe, Queue queue);
void copy_probe(const CopyProbe& probe, Queue queue);
void empty(Queue queue);

}  // namespace treeline::kernels::cuda
