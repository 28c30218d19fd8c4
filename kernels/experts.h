// A mixture of experts: the router's choice, the experts' linear layers on the rows that visit them, and the weighted sum.
//
// Between the choice and the sum a row stands in `active` slots, one for each expert that it visits. Slots lie in the order of
// experts, so that each expert works on slots next to each other; experts that nobody visits are not read. How many slots an
// expert has is known on the device alone: nothing here waits for the host.
#pragma once

#include "kernels/element.h"

namespace treeline::kernels {

inline constexpr int most_experts = 1024, most_active_experts = 32;

struct ExpertChoice {
    int rows = 1;
    int experts = 1;
    int active = 1;                ///< experts that a row visits
    ConstRows logits;              ///< fp32, experts wide
    const float* bias = nullptr;   ///< [experts]: added for the choice, not in the weights; null: 0
    const int* present = nullptr;  ///< [rows]: a row with a negative number visits none; null: all rows visit
    /// What the chosen ones weigh is the softmax of their logits (equal ones: the lowest number is chosen).
    float* weight = nullptr;     ///< [rows][active], the largest logit first
    int* slot = nullptr;         ///< [rows][active], -1 where a row visits none
    int* row_of_slot = nullptr;  ///< [rows * active]: of the slots in use
    int* first_slot = nullptr;   ///< [experts + 1]: of each expert, then the number of slots in use
};

/// y = x W^T with the weights of each slot's expert.
struct ExpertLinear {
    int slots = 1;  ///< places in y; slots in use are fewer where rows visit none
    int experts = 1;
    int inputs = 1;
    int outputs = 1;
    ConstRows x;
    const int* row_of_slot = nullptr;  ///< row of x that a slot reads; null: the slot's own
    ConstRows weight;                  ///< row expert * outputs + output, inputs wide, of the type of x
    const int* first_slot = nullptr;   ///< [experts + 1]
    Rows y;                            ///< a row for each slot, outputs wide, of the type of x
};

/// out = sum over a row's slots of weight * x, plus shared * sigmoid(shared_gate).
struct ExpertSum {
    int rows = 1;
    int width = 1;
    int active = 1;
    ConstRows x;                    ///< a row for each slot
    const int* slot = nullptr;      ///< [rows][active]
    const float* weight = nullptr;  ///< [rows][active]
    ConstRows shared;               ///< what every row adds; none: nothing
    ConstRows shared_gate;          ///< 1 wide; none: the shared part as it is
    Rows output;                    ///< width wide; not x
};

/// As check(const Scan&).
void check(const ExpertChoice& choice);
void check(const ExpertLinear& linear);
void check(const ExpertSum& sum);

}  // namespace treeline::kernels
