// Do fits of recurrent verification and of walks along caches find the law that made the times, and refuse what no law made?
#include <catch2/catch.hpp>

#include "calibrate/tables/attention_walk_rows.h"
#include "calibrate/tables/chunk_scan_rows.h"
#include "calibrate/tables/recurrent_verification_rows.h"
#include "setups.h"

namespace verification_fit_test {

using namespace treeline;
using namespace treeline::calibrate;
using namespace treeline::testing;

namespace {

/// Times of vLLM's chain by this law on H100, states of 64 KB a head from main memory, and as fast as that from the cache.
RecurrentVerificationTable chain_of(const sim::RecurrentVerificationLaw& law, const sim::Device& on) {
    RecurrentVerificationTable table{"vllm", false, {}, 0, ""};
    for (const double heads : {12.0, 24.0, 48.0, 96.0}) {
        for (const double batch : {1.0, 4.0, 16.0, 64.0, 256.0}) {
            for (const double tokens : {2.0, 4.0, 8.0}) {
                const sim::RecurrentVerification shape{batch, tokens, heads, Bytes(65536.0 * heads)};
                table.samples.push_back({shape, time_of(law, shape, on.bandwidth, on.multiprocessors)});
            }
        }
    }
    return table;
}

}  // namespace

TEST_CASE("a fit of recurrent verification recovers its law") {
    const sim::Device on = device("h100-sxm");
    sim::RecurrentVerificationLaw law;
    law.startup = Seconds(4e-6);
    law.per_token = Seconds(0.6e-6);
    law.bandwidth_share = 0.8;
    law.overlap = 0.5;
    const auto fit = fit_recurrent_verification(chain_of(law, on), on, {});
    REQUIRE(fit);
    CHECK(fit->law.startup.value() == Approx(4e-6).epsilon(0.01));
    CHECK(fit->law.per_token.value() == Approx(0.6e-6).epsilon(0.01));
    CHECK(fit->law.bandwidth_share == Approx(0.8).epsilon(0.01));
    CHECK(fit->law.overlap == 0.5);
    CHECK(fit->law.per_head == Seconds(0.0));
    CHECK(fit->held_out.median < 1e-3);

    // 256 sequences of 96 heads on 132 multiprocessors: 3.7 ms, where three transfers of their states (T = 2) take 1.8.
    law.per_head = Seconds(20e-6);
    const auto limited = fit_recurrent_verification(chain_of(law, on), on, {});
    REQUIRE(limited);
    CHECK(limited->law.per_head.value() == Approx(20e-6).epsilon(0.01));
}

TEST_CASE("rows of recurrent verification are an engine's, from memory or from the cache") {
    const std::string header =
        "framework,kernel,phase,fused_conv,batch,tokens,heads,head_k_dim,head_v_dim,state_dtype,state_bytes_per_seq,latency_"
        "us\n";
    // 12 heads of 128 x 128 in fp32 are 786,432 B; the cache holds 50 MB. Twice 3 of them are in it, 64 x 2 are not by far,
    // 64 x 3 / 4 lie between.
    const MeasuredFile file = parse_measured_rows(header +
                                                      "vllm,a,verify,0,1,2,12,128,128,fp32,786432,5\n"
                                                      "vllm,a,verify,0,64,2,12,128,128,fp32,786432,50\n"
                                                      "vllm,a,verify,0,24,2,12,128,128,fp32,786432,20\n"
                                                      "vllm,a,decode,0,64,1,12,128,128,fp32,786432,40\n"
                                                      "sglang,b,verify,1,64,2,12,128,128,fp32,786432,90\n",
                                                  "h100_recurrent_verify.csv");
    const auto tables = recurrent_verification_tables_of({file}, device("h100-sxm"));
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].family == "sglang-fused");
    CHECK(tables[0].convolves);
    CHECK(tables[1].family == "vllm");
    REQUIRE(tables[1].samples.size() == 2);
    CHECK(tables[1].samples[0].from_cache);
    CHECK(!tables[1].samples[1].from_cache);
    CHECK(tables[1].left_out == 1);
}

TEST_CASE("a fit of prompts of delta rules recovers its law") {
    const sim::Device on = device("h100-sxm");
    sim::ChunkScanLaw law;
    law.startup = Seconds(20e-6);
    law.per_token = Seconds(40e-9);
    law.per_head = Seconds(300e-9);
    law.traffic = 1.5;
    law.overlap = 0.5;
    ChunkScanTable table{"vllm", true, "1", {}, ""};
    for (const double heads : {2.0, 16.0, 64.0}) {
        for (const double batch : {1.0, 2.0, 4.0, 8.0, 16.0, 64.0}) {
            for (const double tokens : {64.0, 512.0, 4096.0, 16384.0}) {
                const sim::ChunkScan shape{batch, tokens, heads, Bytes(3000.0 * batch * tokens * heads)};
                table.samples.push_back({shape, time_of(law, shape, chunk_scan_device(on))});
            }
        }
    }
    const auto fit = fit_chunk_scan(table, on, {});
    REQUIRE(fit);
    CHECK(fit->law.startup.value() == Approx(20e-6).epsilon(0.01));
    CHECK(fit->law.per_token.value() == Approx(40e-9).epsilon(0.01));
    CHECK(fit->law.per_head.value() == Approx(300e-9).epsilon(0.01));
    CHECK(fit->law.traffic == Approx(1.5).epsilon(0.01));
    CHECK(fit->law.overlap == 0.5);
    CHECK(fit->law.by_channel);
    CHECK(fit->held_out_one.median < 1e-3);
}

TEST_CASE("rows of prompts are an engine's, of a rule, of its last version, and of whole chunks") {
    const MeasuredFile file = parse_measured_rows(
        "rule,framework,version,kernel,phase,batch,tokens,k_heads,v_heads,head_k_dim,head_v_dim,state_format,state_bytes_per_"
        "seq,latency_us\n"
        "gdn,trtllm,1.0,a,prefill,1,64,16,32,128,128,fp32,1,5\n"
        "gdn,trtllm,1.2,a,prefill,2,128,16,32,128,128,fp32,1,6\n"
        "gdn,trtllm,1.2,a,prefill,2,32,16,32,128,128,fp32,1,6\n"
        "gdn,trtllm,1.2,a,decode,2,1,16,32,128,128,fp32,1,6\n"
        "kda,vllm,0.1,b,prefill,1,64,24,24,128,128,fp32,1,7\n",
        "h100_delta_rule.csv");
    const auto tables = chunk_scan_tables_of({file});
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].family == "tensorrt-llm");
    CHECK(!tables[0].by_channel);
    CHECK(tables[0].version == "1.2");
    REQUIRE(tables[0].samples.size() == 1);
    // A token: 2 B of each of q, k (16 heads), v, o, a decay and beta (32 heads); fp32 states of 32 heads written and read for
    // each chunk of 64. A sequence: its state read and written.
    const double token = 2.0 * (2 * 16 * 128 + 2 * 32 * 128 + 2 * 32) + 2 * 4.0 * 32 * 128 * 128 / 64;
    CHECK(tables[0].samples[0].shape.moved.value() == Approx(2 * 128 * token + 2 * 2 * 4.0 * 32 * 128 * 128));
    CHECK(tables[0].samples[0].shape.heads == 32.0);
    CHECK(tables[1].by_channel);
}

TEST_CASE("a kernel that splits caches has no walk, one that walks along them has") {
    const sim::Device on = device("h100-sxm");
    const auto table_of = [&](double per_token) {
        AttentionWalkTable table;
        const sim::AttentionWalkLaw law{Seconds(6e-6), Seconds(per_token), 0.8};
        for (const double heads : {1.0, 4.0, 8.0, 16.0}) {
            for (const double batch : {1.0, 8.0, 64.0}) {
                for (const double context : {1024.0, 8192.0, 65536.0}) {
                    const sim::AttentionWalk shape{batch,   heads, 1.0,
                                                   context, 128.0, Bytes(batch * heads * context * 2.0 * 128.0 * 2.0)};
                    table.samples.push_back({shape, time_of(law, shape, on.bandwidth, on.multiprocessors)});
                }
            }
        }
        return table;
    };
    // 32,768 FLOPs a token on one of 132 multiprocessors with 989 TFLOP/s: 4.4 ns at full speed.
    const auto walk = fit_attention_walk(table_of(20e-9), on, {});
    REQUIRE(walk);
    CHECK(walk->law.per_token.value() == Approx(20e-9).epsilon(0.01));
    CHECK(!fit_attention_walk(table_of(1e-9), on, {}));
}

}  // namespace verification_fit_test
