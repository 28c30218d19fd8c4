// Each operation computes in the format of what it multiplies: linear layers in that of their weights, attention in that of the
// cache, the LM head in that of the embeddings.
#include "sim/precision.h"

#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/pass.h"

namespace precision_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

NumberFormat math_of(const std::vector<Operation>& operations, const std::string& name) {
    for (const Operation& operation : operations) {
        if (operation.name.find(name) != std::string::npos) {
            return operation.math;
        }
    }
    FAIL("no operation " << name);
    return NumberFormat::fp32;
}

Seconds time_of(const CompiledPass& pass, const PassShape& shape, const std::string& name) {
    for (const OperationEstimate& operation : explain(pass, shape)) {
        if (operation.name.find(name) != std::string::npos) {
            return operation.time;
        }
    }
    FAIL("no operation " << name);
    return Seconds(0.0);
}

}  // namespace

TEST_CASE("a quantised checkpoint computes its linear layers alone in the narrow format") {
    const Precision fp8 = checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16);
    const auto operations = operations_of(model("llama-3-8b"), fp8, {});
    CHECK(math_of(operations, "qkv projection") == NumberFormat::fp8);
    CHECK(math_of(operations, "down projection") == NumberFormat::fp8);
    CHECK(math_of(operations, ": attention") == NumberFormat::bf16);
    CHECK(math_of(operations, "LM head") == NumberFormat::bf16);
    CHECK(math_of(operations, "norm") == NumberFormat::fp32);  // vector units
    // 6.98 billion parameters of linear layers at one byte, 2 x 128,256 x 4096 of the ends at two, norms at two.
    const double linear = 32.0 * (4096.0 * 6144 + 4096.0 * 4096 + 3.0 * 4096 * 14336);
    const double ends = 2.0 * 128256 * 4096, norms = 65.0 * 4096;
    CHECK(stored_weights(model("llama-3-8b"), fp8, 1.0).value() == linear + 2.0 * ends + 2.0 * norms);
}

TEST_CASE("an fp8 cache is attended to in fp8, integers in the activations' format, fp4 in fp8") {
    Precision precision = uniform_precision(NumberFormat::bf16);
    for (const auto& [cache, products] :
         {std::pair{NumberFormat::fp8, NumberFormat::fp8}, std::pair{NumberFormat::fp16, NumberFormat::fp16},
          std::pair{NumberFormat::int8, NumberFormat::bf16}, std::pair{NumberFormat::fp4, NumberFormat::fp8}}) {
        precision.kv_cache = {cache};
        CHECK(math_of(operations_of(model("llama-3-8b"), precision, {}), ": attention") == products);
        CHECK(math_of(operations_of(model("deepseek-v3"), precision, {}), "latent attention") == products);
    }
}

TEST_CASE("weights wider than the products' format are multiplied in their own") {
    // gpt-oss: experts in MXFP4, all else in bf16.
    Precision precision = mxfp4_precision(NumberFormat::bf16);
    precision.weights = {NumberFormat::bf16};
    const auto operations = operations_of(model("mixtral-8x7b"), precision, {});
    CHECK(math_of(operations, "routed experts") == NumberFormat::fp4);
    CHECK(math_of(operations, "router") == NumberFormat::bf16);
    // Weight-only quantisation: int4 weights, bf16 products.
    const auto widened = operations_of(model("mixtral-8x7b"), checkpoint_precision(NumberFormat::int4, NumberFormat::bf16), {});
    CHECK(math_of(widened, "routed experts") == NumberFormat::bf16);
}

TEST_CASE("each operation is priced at the peak of its own format") {
    Platform h100 = platform("h100-sxm", "ideal");
    const Precision fp8 = checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16);
    const CompiledPass pass = compile_pass(model("llama-3-8b"), fp8, h100, {});
    const PassShape many{4096.0, 1.0, 0.0, 1.0};  // compute-bound
    // LM head: 2 x 4096 rows x 4096 x 128,256 FLOPs at 989 TFLOP/s; down projections: 32 x 2 x 4096 x 14,336 x 4096 at 1979.
    CHECK(time_of(pass, many, "LM head").value() == Approx(2.0 * 4096 * 4096 * 128256 / 989e12));
    CHECK(time_of(pass, many, "down projection").value() == Approx(32.0 * 2 * 4096 * 14336 * 4096 / 1979e12));
    // 256 tokens of each sequence on 8192 cached ones: attention is compute-bound, in bf16.
    const PassShape long_context{64.0, 256.0, 8192.0, 1.0};
    CHECK(time_of(pass, long_context, ": attention").value() ==
          Approx(32.0 * 64 * 256 * 4 * 32 * 128 * (8192 + 128.5) / 989e12));
}

TEST_CASE("blocks of fp8 share a scale of 32 bits") {
    CHECK(block_fp8_precision(NumberFormat::bf16).weights == Storage{NumberFormat::fp8, 128.0 * 128.0, 32.0});
}

}  // namespace precision_test
