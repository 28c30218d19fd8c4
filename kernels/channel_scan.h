// The recurrence of Mamba (1), for one channel with a state h of N numbers, each of which decays at a rate of its own:
//
//     dt = softplus(dt_raw + bias)                    (the identity above 20)
//     h_i = exp(A dt_i) h_parent(i) + dt_i x_i B_i    (element by element)
//     y_i = <h_i, C_i> + D x_i, times silu(gate_i) if there is a gate
//
// Source: Gu and Dao, "Mamba" (arXiv 2312.00752), as the public selective_scan computes it. Such decays leave no product over
// pairs of tokens, so trees are stepped from their parents' states, which stay on chip. Bytes and FLOPs: sim/layers/mamba.cpp.
#pragma once

#include "kernels/element.h"
#include "kernels/packed_tree.h"
#include "kernels/state_scan.h"

namespace treeline::kernels {

/// Which tokens a scan steps over, from which states, and what it leaves.
struct ScanSteps {
    int sequences = 1;
    int tokens = 1;               ///< of a sequence: steps of a chain, or tokens of the tree
    const int* row_of = nullptr;  ///< as in Scan; rows of a tree are all there
    TreeView tree;                ///< none: chains
    ConstStates initial;
    const int* state_of = nullptr;        ///< as in Scan
    Rows y;                               ///< row sequence * tokens + step; none: no output
    StateWrite write = StateWrite::none;  ///< as in Scan; trees write none
    States written;                       ///< as in Scan
    const int* written_to = nullptr;      ///< as in Scan
};

struct ChannelScan {
    ScanSteps steps;  ///< states are [channels][state_size]; y channels wide
    int channels = 1;
    int state_size = 16;             ///< a power of 2 from 4 to 32
    ConstRows x;                     ///< channels wide
    ConstRows dt;                    ///< channels wide, before bias and softplus
    ConstRows b;                     ///< state_size wide
    ConstRows c;                     ///< likewise; not read if there is no output
    ConstRows gate;                  ///< channels wide; none: no gate
    const float* a = nullptr;        ///< [channels][state_size], negative
    const float* dt_bias = nullptr;  ///< [channels]; null: 0
    const float* d = nullptr;        ///< [channels]; null: 0
};

/// As check(const Scan&).
void check(const ChannelScan& scan);

/// What both scans by steps ask of their steps.
void check_steps(const ScanSteps& steps, int width, const char* kernel);

}  // namespace treeline::kernels
