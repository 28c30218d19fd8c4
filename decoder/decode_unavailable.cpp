// In place of the decoder where Treeline is built without kernels (TREELINE_KERNELS=OFF).
#include <stdexcept>

#include "decoder/decode.h"

namespace treeline::decoder {
namespace {
constexpr const char* reason =
    "this treeline was built without kernels, so it decodes nothing (in a checkout, ./run --all builds them)";
}

bool available() { return false; }
std::vector<std::string> problems_of(const DecodeSetup& /*setup*/) { return {reason}; }
std::string memory_problem(const DecodeSetup& /*setup*/) { return reason; }
DecodeResult decode(const DecodeSetup& /*setup*/, const std::function<void()>& /*between_rounds*/) {
    throw std::invalid_argument(reason);
}

}  // namespace treeline::decoder
