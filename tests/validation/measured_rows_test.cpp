// Are measured rows read strictly, and do they become the design points that they were measured at?
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "measured_row.h"
#include "sim/round.h"
#include "text/input_error.h"
#include "validation/serving/predict.h"

namespace measured_rows_test {

using namespace treeline;
using namespace treeline::validation;

namespace fs = std::filesystem;

TEST_CASE("a run becomes the design point that the product would price") {
    const MeasuredPoints read =
        points_in(serving_header + "x,vllm,meta-llama/Llama-3.1-8B-Instruct,h100_sxm,bf16,1000,500,8,1,50,9.5\n");
    REQUIRE(read.points.size() == 1);
    const MeasuredPoint& point = read.points[0];
    CHECK(point.measured == 9.5e-3);
    CHECK(point.context == 1250.0);  // the prompt and half of the answer
    sim::RoundSetup setup;
    setup.target = parts().models.at("llama-3.1-8b");
    setup.precision = setup.target.precision;
    setup.platform.device = parts().devices.at("h100-sxm");
    setup.platform.stack = parts().stacks.at("vllm-0.10");  // the row states no version
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 500.0;
    CHECK(predicted_time_per_token(point, parts(), sim::CostMode::roofline) ==
          sim::evaluate(sim::compile_round(setup), {0, 8.0, 1250.0}).time_per_token.value());
}

TEST_CASE("rules leave rows out and say why") {
    const std::string rows = serving_header +
                             "queued,vllm,Qwen/Qwen3-32B,h100_sxm,fp8,1000,500,8,1,2001,9.5\n"
                             // 64·(2·31 G·1,064)/(64·4 ms + 1 ms) is 16 PFLOP/s: more than any H100 has.
                             "cached,vllm,Qwen/Qwen3-32B,h100_sxm,fp8,1000,64,64,1,1,4\n"
                             "unknown,vllm,Some/Model,h100_sxm,fp8,1000,500,8,1,50,9.5\n";
    const MeasuredPoints read = points_in(rows);
    REQUIRE(read.points.empty());
    REQUIRE(read.left_out.size() == 3);
    CHECK(read.left_out[0].reason == "no description of the target model");
    CHECK_FALSE(read.left_out[0].point);
    CHECK(read.left_out[1].reason == "requests queued (time to first token above 2 s)");
    CHECK(read.left_out[1].point);
    CHECK(read.left_out[2].reason == "prompts were not all computed (a prefix cache)");
}

TEST_CASE("mixtures with a faster twin are left out with all of their deployment, whatever is predicted") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,moe_precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,"
        "ttft_ms,tpot_ms\n";
    const auto row = [](const char* version, int batch, double tpot) {
        return "r,sglang," + std::string(version) + ",deepseek-ai/DeepSeek-R1,h200_sxm,fp8,fp8,1024,1024," +
               std::to_string(batch) + ",8,1,8,1,50," + std::to_string(tpot) + "\n";
    };
    // At 4 users 1.3 times as fast as the other version; at 64 no faster.
    const MeasuredPoints read =
        points_in(header + row("1.0", 4, 13.0) + row("1.0", 64, 30.0) + row("2.0", 4, 10.0) + row("2.0", 64, 30.5));
    REQUIRE(read.points.size() == 2);
    CHECK(read.points[0].row == 0);
    CHECK(read.points[1].row == 1);
    REQUIRE(read.left_out.size() == 2);
    CHECK(read.left_out[1].reason == "possibly with multi-token prediction (a deployment with a faster twin)");
}

TEST_CASE("a model of the same layers is a twin, and what is suspected on one device is on another") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,moe_precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,"
        "ttft_ms,tpot_ms\n";
    const auto row = [](const char* model, const char* device, double tpot) {
        return "r,trtllm,1.1,deepseek-ai/" + std::string(model) + "," + device + ",fp8,fp8,1024,1024,4,8,1,8,1,50," +
               std::to_string(tpot) + "\n";
    };
    const std::string twins = row("DeepSeek-V3", "b200_sxm", 14.0) + row("DeepSeek-R1", "b200_sxm", 7.0);
    const MeasuredPoints read = points_in(header + twins + row("DeepSeek-R1", "h200_sxm", 8.0));
    REQUIRE(read.points.size() == 1);
    CHECK(read.points[0].row == 0);
    CHECK(read.left_out.size() == 2);
    // The same run under two names is one run.
    const MeasuredPoints listed_twice =
        points_in(header + row("DeepSeek-V3", "b200_sxm", 14.0) + row("DeepSeek-R1", "b200_sxm", 14.0));
    REQUIRE(listed_twice.left_out.size() == 1);
    CHECK(listed_twice.left_out[0].reason == "duplicate");
}

TEST_CASE("a run that is listed rounded, or under a shorter name of its build, is one run") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,ttft_ms,tpot_ms\n";
    const std::string rest = ",Qwen/Qwen3.5-397B-A17B,b200_sxm,bf16,1024,1024,4,8,1,8,1,";
    const MeasuredPoints read = points_in(header + "a,sglang,nightly-dev-20260216-d3bae71e" + rest + "231.8479,8.06521\n" +
                                          "b,sglang,nightly-dev" + rest + "231.85,8.07\n");
    CHECK(read.points.size() == 1);
    REQUIRE(read.left_out.size() == 1);
    CHECK(read.left_out[0].reason == "duplicate");
}

TEST_CASE("ranks of rows become cuts, read as their README says") {
    const std::string header =
        "id,backend,model,system,precision,moe_precision,isl,osl,batch_size,tp,pp,attention_dp,moe_tp,moe_ep,tpot_ms\n";
    const auto reason = [&](const std::string& ranks) {
        const MeasuredPoints read =
            points_in(header + "r,sglang,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,fp8,1024,1024,8," + ranks + ",30\n");
        return read.left_out.empty() ? "" : read.left_out[0].reason;
    };
    const auto cut = [&](const std::string& ranks) {
        const MeasuredPoints read =
            points_in(header + "r,sglang,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,fp8,1024,1024,8," + ranks + ",30\n");
        REQUIRE(read.points.size() == 1);
        const MeasuredPoint& point = read.points[0];
        return fmt::format("{}; {} requests", text_of(point.cut.tensor, point.cut.parallel), point.batch);
    };
    CHECK(reason("8,1,1,8,1").empty());
    CHECK(cut("8,1,1,1,8") == "tensor 8, experts 8; 8 requests");
    // Eight groups of one rank, each with the eight requests of the row.
    CHECK(cut("1,1,8,1,8") == "attention data 8, experts 8; 64 requests");
    // The same with the square of the groups: a 64th of all requests a row.
    CHECK(cut("1,1,64,8,8") == "attention data 8, experts 8; 512 requests");
    CHECK(cut("4,1,4,1,16") == "tensor 4, experts 4; 32 requests");
    CHECK(cut("2,1,2,1,4") == "tensor 2, experts 2; 16 requests");
    CHECK(cut("64,1,1,8,8") == "tensor 8, experts 8; 8 requests");
    CHECK(cut("4,2,1,4,1") == "tensor 4, pipeline 2; 8 requests");
    CHECK(reason("8,1,,8,1") == "parallelism is not stated");
    CHECK(reason("8,1,1,4,1") == "parallelism of attention and experts disagrees");
}

TEST_CASE("a speculative row keeps its draft, accept length and lengths") {
    const MeasuredPoints read = speculative_points_in(
        R"(, "speedup": 1.5, "draft_tokens": 3, "accept_length": 2.5, "batch_or_concurrency": 16, "dataset": "GSM8K", "tp": 1)");
    REQUIRE(read.points.size() == 1);
    const MeasuredPoint& point = read.points[0];
    CHECK(point.speculation->label == "chain 3");
    CHECK(point.prompt_tokens == 94.0);
    CHECK(point.output_tokens == 165.0);
    SpeculativePoint speculative(point, parts(), sim::CostMode::roofline);
    const double speed_up = speculative.speed_up(2.5);
    CHECK(speed_up > 1.0);
    CHECK(speculative.accept_length_for(speed_up) == Approx(2.5).epsilon(1e-5));
    CHECK(speculative.accept_length_for(100.0) == 4.0);  // three drafts and the bonus token
}

TEST_CASE("trees of SGLang become trees") {
    const MeasuredPoints read = speculative_points_in(
        R"(, "speedup": 1.5, "tree": {"steps": 3, "topk": 4, "num_draft_tokens": 22}, "accept_length": 3, "batch_or_concurrency": 1)");
    REQUIRE(read.left_out.size() == 1);
    CHECK(read.left_out[0].reason == "cannot be priced");  // vLLM's stack verifies chains alone
    const std::string text = speculation(
        R"(, "speedup": 1.5, "tree": {"steps": 3, "topk": 4, "num_draft_tokens": 22}, "accept_length": 3, "batch_or_concurrency": 1)");
    std::string of_sglang = text;
    of_sglang.replace(of_sglang.find("\"vllm\""), 6, "\"sglang\"");
    std::vector<std::string> notes;
    const MeasuredPoints tree = points_of(requests::read_speculation_rows(written("tree.json", of_sglang), notes), parts());
    REQUIRE(tree.points.size() == 1);
    CHECK(draft_depth(tree.points[0]) == 3.0);
    SpeculativePoint speculative(tree.points[0], parts(), sim::CostMode::roofline);
    CHECK(speculative.accept_length_for(speculative.speed_up(3.0)) == Approx(3.0).epsilon(1e-5));
}

TEST_CASE("a run faster than its checkpoint can be read was in another format") {
    // 16.1 GB of bf16 weights, 90 % of them without the embedding, take 4.3 ms at the 3.35 TB/s of an H100.
    const std::string row =
        R"(, "n_gpus": 1, "speedup": 1.5, "draft_tokens": 3, "batch_or_concurrency": 1, "value_with": 1, "value_without": )";
    const MeasuredPoints wrong = speculative_points_in(row + R"(2.5, "target_precision": "bf16")");
    REQUIRE(wrong.left_out.size() == 1);
    CHECK(wrong.left_out.front().reason == "faster than its checkpoint can be read: the format is not stated");
    // Without a word of the format the widest one is assumed that can be read so fast: 8.0 GB in 2.5 ms, 4.5 GB in 1.5.
    const auto assumed = [&](const std::string& without) {
        const MeasuredPoints read = speculative_points_in(row + without);
        REQUIRE(read.points.size() == 1);
        CHECK(read.points[0].assumed == std::vector<std::string>{"format"});
        return read.points[0].precision.weights.format;
    };
    CHECK(assumed("2.5") == sim::NumberFormat::fp8);
    CHECK(assumed("1.5") == sim::NumberFormat::int4);
    CHECK(speculative_points_in(row + "0.5").left_out.size() == 1);
    CHECK(speculative_points_in(row + "6.5").points.front().assumed.empty());
    CHECK(speculative_points_in(row + R"(2.5, "target_precision": "fp8")").points.size() == 1);
    // One checkpoint for all rows of a deployment: what its fastest one needs.
    const std::string slow = speculation(row + "6.5"), fast = speculation(row + "1.5");
    const auto object = [](const std::string& text) {
        return text.substr(text.find('{'), text.rfind('}') - text.find('{') + 1);
    };
    std::vector<std::string> notes;
    const MeasuredPoints both = points_of(
        requests::read_speculation_rows(written("both.json", "[" + object(slow) + ", " + object(fast) + "]"), notes), parts());
    REQUIRE(both.points.size() == 2);
    for (const MeasuredPoint& point : both.points) {
        CHECK(point.precision.weights.format == sim::NumberFormat::int4);
        CHECK(point.assumed == std::vector<std::string>{"format"});
    }
}

TEST_CASE("a policy that cuts drafts is priced as the best fixed number of them") {
    const std::string fields = R"("engine": "vllm", "gpu": "H100", "series": "s", "target_model": "Qwen3-8B", "draft_tokens": 7,
                                  "accept_length": 2.5, "drafter_type": )";
    const MeasuredPoints cut = row_of(fields + "\"dspark adaptive verification (max 7)\"");
    const MeasuredPoints whole = row_of(fields + R"("dspark")");
    REQUIRE(cut.points.size() == 1);
    REQUIRE(whole.points.size() == 1);
    CHECK(cut.points[0].adaptive);
    CHECK(cut.points[0].assumed == std::vector<std::string>{"verified tokens"});
    CHECK_FALSE(cut.points[0].accept_length);  // of the cut drafts
    MeasuredPoint busy = cut.points[0], fixed = whole.points[0];
    busy.batch = fixed.batch = 256.0;
    const double chosen = SpeculativePoint(busy, parts(), sim::CostMode::roofline).speed_up(2.5);
    CHECK(chosen > SpeculativePoint(fixed, parts(), sim::CostMode::roofline).speed_up(2.5));
    double best = 0.0;
    for (int k = 1; k <= 7; ++k) {
        MeasuredPoint shorter = fixed;
        shorter.speculation = sim::Speculation{sim::ChainShape{k}, sim::Verification::unrolled, "k"};
        const sim::Acceptance acceptance = sim::Acceptance::mean_length(2.5, 7.0);
        double length = 1.0;
        for (int i = 1; i <= k; ++i) {
            length += acceptance.position(i);
        }
        best = std::max(best, SpeculativePoint(shorter, parts(), sim::CostMode::roofline).speed_up(length));
    }
    CHECK(chosen == Approx(best).epsilon(1e-6));
}

TEST_CASE("of replicas one is priced, with its share of the requests") {
    const MeasuredPoints read =
        speculative_points_in(R"(, "speedup": 1.5, "draft_tokens": 3, "batch_or_concurrency": 32, "n_gpus": 8, "dp": 2)");
    REQUIRE(read.points.size() == 1);
    CHECK(read.points[0].batch == 16.0);
    CHECK(read.points[0].cut.tensor == 4.0);
}

TEST_CASE("decode context parallelism is a field, or a remark in the notes") {
    const std::string row = R"(, "speedup": 1.5, "draft_tokens": 3, "batch_or_concurrency": 1, "tp": 8)";
    const auto ranks = [&](const std::string& more) {
        const MeasuredPoints mapped = speculative_points_in(row + more);
        REQUIRE(mapped.points.size() == 1);
        return mapped.points.front().cut.parallel.context;
    };
    CHECK(ranks("") == 1.0);
    CHECK(ranks(R"(, "notes": "")") == 1.0);
    CHECK(ranks(R"(, "notes": "decode-context-parallel 8, custom all-reduce off")") == 8.0);
    CHECK(ranks(R"(, "dcp": 4)") == 4.0);
}

TEST_CASE("bad files are answered with sentences that name file and row") {
    std::vector<std::string> notes;
    const auto problem_of = [&](const auto& read) -> std::string {
        try {
            read();
        } catch (const text::InputError& error) {
            return error.problems().front();
        }
        return "";
    };
    const fs::path missing = written("bad.csv", "id,backend,model,system,precision,isl,osl,batch_size,tp\n1,a,b,c,d,1,1,1,1\n");
    CHECK(problem_of([&] { requests::read_serving_rows(missing, notes); }) ==
          "treeline-bad.csv: the column \"tpot_ms\" is missing");
    const fs::path no_number =
        written("bad.csv", serving_header + "x,vllm,m,d,bf16,1000,500,8,1,50,9.5\ny,vllm,m,d,bf16,many,500,8,1,50,9.5\n");
    CHECK(requests::read_serving_rows(no_number, notes).size() == 1);
    CHECK(notes.back() ==
          "treeline-bad.csv: row 2 (line 3): isl: must be a number of at least 1, not \"many\"; this row is left out");
    const auto bad_rows_of = [&](const std::string& fields) {
        std::vector<std::string> bad_rows;
        requests::read_serving_rows(written("bad.csv",
                                            "id,backend,backend_version,model,system,precision,isl,osl,batch_size,tp,tpot_ms\n"
                                            "x,vllm,0.12.0,m,d,bf16,1000,200,8,1,7.4\ny," +
                                                fields + ",1000,200,8,1,7.4\n"),
                                    notes, &bad_rows, &parts().names);
        return bad_rows.empty() ? std::string() : bad_rows.front();
    };
    for (const char* format : {"fp9", "bf17", "none", ""}) {
        CHECK(bad_rows_of(std::string("vllm,0.12.0,m,d,") + format) ==
              "treeline-bad.csv: row 2 (line 3): precision: must be a number format such as bf16, fp8, int4 or nvfp4, not \"" +
                  std::string(format) + "\"; this row is left out");
    }
    CHECK(bad_rows_of("vllm,abc,m,d,bf16").find("backend_version: names no version that is known: \"abc\"") !=
          std::string::npos);
    CHECK(bad_rows_of("vllm@0.5,,m,d,bf16").find("backend: names a version") != std::string::npos);
    for (const char* good :
         {"vllm,,m,d,bfloat16", "vllm,nightly-5b8c30d62b754b57,m,d,fp8_block", "trtllm,gpt-oss-dev,m,d,nvfp4",
          "sglang,glm5-hopper,m,d,int4_wo", "llama.cpp,b9987,m,d,q4_k_m", "trtllm,1.2.0rc6.post2,m,d,fp8"}) {
        CHECK(bad_rows_of(good) == "");
    }
    const fs::path no_speed = written("bad.json", speculation(R"(, "speedup": "fast")"));
    CHECK(problem_of([&] {
              requests::read_speculation_rows(no_speed, notes);
          }).starts_with("treeline-bad.json: row 1: speedup: "));
    const fs::path no_list = written("bad.json", "{}");
    CHECK(problem_of([&] { requests::read_speculation_rows(no_list, notes); }) ==
          "treeline-bad.json: must hold a list of rows in brackets");
    const fs::path further = written("more.json", speculation(R"(, "speedup": 1.1, "mood": "good")"));
    CHECK(requests::read_speculation_rows(further, notes).size() == 1);
    CHECK(notes.back() == "treeline-more.json: the field \"mood\" is not used (1 rows)");
}

TEST_CASE("one bad row never stops a file") {
    std::vector<std::string> notes;
    const auto object = [](const std::string& more) {
        const std::string list = speculation(more);
        return list.substr(list.find('{'), list.rfind('}') + 1 - list.find('{'));
    };
    const std::string good = object(R"(, "speedup": 1.2, "batch_or_concurrency": 2, "draft_tokens": 3)");
    const std::string rows = "[" + good + ", " + object(R"(, "speedup": 1.2, "batch_or_concurrency": -2)") + ", 7, " +
                             object(R"(, "speedup": 1.1, "n_gpus": 0, "batch_or_concurrency": 1, "draft_tokens": 3)") + ", " +
                             object(R"(, "speedup": 1.1, "suspect": true, "batch_or_concurrency": 1, "draft_tokens": 3)") +
                             ", " + object(R"(, "speedup": 1.1, "suspect": false, "input_len": 32000)") + "]";
    const std::vector<SpeculationRow> read = requests::read_speculation_rows(written("rows.json", rows), notes);
    REQUIRE(read.size() == 4);
    CHECK(read[1].place.number == 4);
    CHECK(read[1].ranks.devices == 0.0);  // a run on the host's cores, if its device is one
    CHECK(read[2].suspect == "marked without a reason");
    CHECK(read[3].suspect.empty());
    std::string all;
    for (const std::string& note : notes) {
        all += note + "\n";
    }
    CHECK(all.find("treeline-rows.json: row 2: batch_or_concurrency: ") != std::string::npos);
    CHECK(all.find("treeline-rows.json: row 3: ") != std::string::npos);
    CHECK(all.find("this row is left out") != std::string::npos);
}

TEST_CASE("a run on no device is one of a processor") {
    const std::string row = R"("engine": "llama.cpp", "series": "s", "target_model": "Qwen3-8B", "draft_tokens": 3,
                               "drafter_type": "ngram", "n_gpus": 0, "gpu": )";
    const MeasuredPoints host = row_of(row + "\"Xeon 8480+\""), card = row_of(row + "\"H200\"");
    REQUIRE(host.points.size() == 1);
    CHECK(host.points[0].cut.devices() == 1.0);
    REQUIRE(card.left_out.size() == 1);
    CHECK(card.left_out[0].reason == "n_gpus is 0 beside a device that is no processor");
}

TEST_CASE("values that nothing measured can have leave their row out") {
    for (const auto& [more, what] :
         {std::pair{R"(, "speedup": 1.2, "value_with": 0)", "value_with: is 0"},
          {R"(, "speedup": 1.2, "draft_tokens": 100000)", "draft_tokens: is 100000"},
          {R"(, "speedup": 1.2, "draft_tokens": 3, "n_gpus": 2.5)", "n_gpus: must be a whole number, not 2.5"},
          {R"(, "speedup": 1.2, "draft_tokens": 3, "n_gpus": 1e9)", "must lie between 0 and 4096"},
          {R"(, "speedup": 1.2, "draft_tokens": 3, "tp": 1.5)", "tp: must be a whole number, not 1.5"},
          {R"(, "speedup": 1.2, "draft_tokens": 3, "accept_length": 99)", "rounds of 3 draft tokens yield at most 4"}}) {
        std::vector<std::string> notes, bad;
        const auto object = [](const std::string& keys) {
            const std::string list = speculation(keys);
            return list.substr(list.find('{'), list.rfind('}') + 1 - list.find('{'));
        };
        const std::string rows = "[" + object(R"(, "speedup": 1.2, "draft_tokens": 3)") + ", " + object(more) + "]";
        CHECK(requests::read_speculation_rows(written("impossible.json", rows), notes, &bad).size() == 1);
        REQUIRE(bad.size() == 1);
        CHECK(bad[0].find(what) != std::string::npos);
        CHECK(bad[0].find("row 2") != std::string::npos);
    }
}

TEST_CASE("a row may say its ranks in one word, and counts once") {
    const std::string same = R"("engine": "sglang", "series": "s", "target_model": "Qwen3-30B-A3B", "gpu": "H100 80GB",
                                "drafter_type": "eagle3", "draft_tokens": 3, "accept_length": 2.0, "n_gpus": 8, )";
    const auto cut = [&](const std::string& words) {
        const MeasuredPoints found = row_of(same + R"("parallelism": ")" + words + "\"");
        REQUIRE(found.points.size() == 1);
        return found.points.front().cut;
    };
    CHECK(cut("TP8").tensor == 8.0);
    CHECK(cut("tp=4 pp 2").tensor == 4.0);
    CHECK(cut("tp=4 pp 2").parallel.pipeline == 2.0);
    CHECK(cut("TP8 EP8").parallel.experts == 8.0);
    CHECK(cut("DP2").tensor == 4.0);           // two replicas of eight devices
    CHECK(cut("http8, step3").tensor == 8.0);  // no words of ranks: as many as there are devices
    std::vector<std::string> notes, left_out;
    const std::string twice = "[" + std::string(R"({"id": "a", "is_pair": true, "metric": "tpot_ms", "speedup": 1.5, )") +
                              same + R"("batch_or_concurrency": 4}, {"id": "a", "is_pair": true, "metric": "tpot_ms",
                                         "speedup": 1.5, )" +
                              same + R"("batch_or_concurrency": 4}])";
    CHECK(requests::read_speculation_rows(written("twice.json", twice), notes, &left_out).size() == 1);
    REQUIRE(left_out.size() == 1);
    CHECK(left_out.front().find("the same as an earlier row") != std::string::npos);
}

TEST_CASE("a step that no device multiplies in its time is a slip of the unit, not a prefix cache") {
    const auto reason = [](const std::string& batch, const std::string& time) {
        const MeasuredPoints read =
            points_in(serving_header + "x,vllm,llama-3.1-8b,h100-sxm,bf16,1000,200," + batch + ",1,20," + time + "\n");
        return read.left_out.empty() ? std::string() : read.left_out.front().reason;
    };
    CHECK(reason("8", "7.4") == "");
    CHECK(reason("8", "0.0074") == impossible_time);
    CHECK(reason("100000", "7.4") == impossible_time);
    // 256 answers in 7.4 ms take 0.56 of the peak; with their prompts, six times as much.
    CHECK(reason("256", "7.4") == "prompts were not all computed (a prefix cache)");
}

}  // namespace measured_rows_test
