#include "sim/operation.h"

namespace treeline {

std::string_view name_of(Bound bound) {
    switch (bound) {
        case Bound::memory:
            return "memory";
        case Bound::compute:
            return "compute";
        case Bound::network:
            return "network";
        case Bound::launch:
            return "launch";
    }
    return "";
}

std::string_view name_of(OperationKind kind) {
    switch (kind) {
        case OperationKind::linear:
            return "linear";
        case OperationKind::attention:
            return "attention";
        case OperationKind::scan:
            return "scan";
        case OperationKind::convolution:
            return "convolution";
        case OperationKind::element_wise:
            return "element-wise";
        case OperationKind::experts:
            return "experts";
        case OperationKind::logits:
            return "logits";
        case OperationKind::collective:
            return "collective";
    }
    return "";
}

}  // namespace treeline
