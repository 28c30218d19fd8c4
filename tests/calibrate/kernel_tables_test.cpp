// Tables of measured kernels: what is read, and one sentence for each kind of bad input.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include "calibrate/tables/kernel_tables.h"
#include "json/reader.h"
#include "setups.h"

namespace kernel_tables_test {

using namespace treeline;
using namespace treeline::calibrate;
using namespace treeline::testing;

namespace {

/// Linear layers of three shapes above 2 × 50 MB, and one that fits the cache.
const std::string gemm_csv =
    "dtype,m,n,k,latency_us\n"
    "bf16,1,16384,8192,100.0\nbf16,16,16384,8192,101.0\n"
    "bf16,1,16384,16384,190.0\nbf16,16,16384,16384,192.5\n"
    "bf16,1,32768,16384,370.0\nbf16,16,32768,16384,372.0\n"
    "bf16,1,4096,4096,8.0\n";

std::vector<KernelTable> tables_of(const std::string& text, const std::string& path = "h100_gemm.csv") {
    return kernel_tables_of({parse_measured_rows(text, path)}, device("h100-sxm"));
}

/// The message that this table is refused with.
std::string refusal(const std::string& text, const std::string& path = "h100_gemm.csv") {
    try {
        require_fittable(tables_of(text, path));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "accepted";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a CSV table becomes samples, without what ran from the cache") {
    const std::vector<KernelTable> tables = tables_of(gemm_csv);
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].kernel == sim::KernelClass::gemm);
    CHECK(tables[0].format == sim::NumberFormat::bf16);
    CHECK(tables[0].samples.size() == 6);
    CHECK(tables[0].left_out == 1);  // 4096 · 4096 · 2 B = 34 MB < 2 · 50 MB
    CHECK(tables[0].samples[0].time.value() == Approx(100e-6));
    // 2 · 16 · 16384 · 8192 FLOPs and 2 B · (16384 · 8192 + 16 · (16384 + 8192)).
    const sim::ShapeTerms terms = terms_of(tables[0].samples[1].shape);
    CHECK(sim::flops_of<false>(tables[0].samples[1].operation, terms).value() == 2.0 * 16 * 16384 * 8192);
    CHECK(bytes_at(tables[0].samples[1]).value() == 2.0 * (16384.0 * 8192 + 16 * (16384 + 8192)));
}

TEST_CASE("nvbench JSON holds the same under its own names") {
    std::string states;
    for (const auto& [n, seconds] :
         {std::pair{"16384", "1.0e-4"}, std::pair{"32768", "1.9e-4"}, std::pair{"65536", "3.7e-4"}}) {
        states +=
            std::string(states.empty() ? "" : ",") +
            R"({"name": "s", "is_skipped": false, "axis_values": [{"name": "dtype", "value": "bf16"}, {"name": "m", "value": "8"},
                      {"name": "n", "value": ")" +
            n + R"("}, {"name": "k", "value": "8192"}],
                      "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": ")" +
            seconds + R"("}]}]})";
    }
    const std::string head =
        R"({"devices": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "benchmarks": [{"name": "gemm", "states": [)";
    const std::vector<KernelTable> tables = tables_of(head + states + "]}]}", "run.json");
    REQUIRE(tables.size() == 1);
    REQUIRE(tables[0].samples.size() == 3);
    CHECK(tables[0].samples[1].time.value() == Approx(1.9e-4));
    std::string other = head + states + "]}]}";
    other.replace(other.find("H100"), 4, "L40S");
    CHECK(holds(refusal(other, "run.json"), "was measured on NVIDIA L40S 80GB HBM3, not on h100-sxm"));
}

TEST_CASE("Google Benchmark JSON: named arguments, label and medians") {
    std::string entries;
    for (const auto& [n, time] : {std::pair{"16384", "100"}, std::pair{"32768", "190"}, std::pair{"65536", "370"}}) {
        for (const char* aggregate : {"mean", "median"}) {
            entries += std::string(entries.empty() ? "" : ",") + R"({"name": "x", "run_name": "BM_gemm/m:8/n:)" + n +
                       R"(/k:8192", "run_type": "aggregate", "aggregate_name": ")" + aggregate +
                       R"(", "label": "dtype=bf16", "real_time": )" + time + R"(, "time_unit": "us"})";
        }
    }
    const std::vector<KernelTable> tables = tables_of(R"({"context": {}, "benchmarks": [)" + entries + "]}", "run.json");
    REQUIRE(tables.size() == 1);
    REQUIRE(tables[0].samples.size() == 3);
    CHECK(tables[0].samples[0].time.value() == Approx(100e-6));
}

TEST_CASE("bad tables are refused with one sentence that names the file and the fault") {
    CHECK(holds(refusal(""), "h100_gemm.csv: is empty"));
    CHECK(holds(refusal("dtype,m,n,k\nbf16,1,2,3\n"), "has no column latency_us"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us,latency_ms\nbf16,1,2,3,4,5\n"), "mixed units (latency_us and latency_ms)"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,2,3,0\n"), "line 2: the time must be a number above zero"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,2,3,-4\n"), "line 2: the time must be a number above zero"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,2,3,fast\n"), "line 2: the time must be a number above zero"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,2,3\n"), "line 2: has 4 fields, but the header has 5"));
    CHECK(holds(refusal("dtype,m,k,latency_us\nbf16,1,2,3\n"), "line 2: has no column n"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf17,1,2,3,4\n"), "dtype \"bf17\" is not a number format"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,0,2,3,4\n"), "m must be a number of at least 1, not \"0\""));
    CHECK(holds(refusal("a,b,latency_us\n1,2,3\n"),
                "is not a gemm, attention, experts, collective, recurrent or convolution row"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,32768,16384,370\nbf16,2,32768,16384,371\n"),
                "holds 1 shape of gemm, bf16"));
    CHECK(holds(refusal(gemm_csv, "l40s_gemm.csv"), "is a table of l40s by its name, not of h100-sxm"));
    CHECK(holds(refusal("dtype,m,n,k,device,latency_us\nbf16,1,2,3,L40S,4\n"), "was measured on L40S, not on h100-sxm"));
    CHECK(holds(refusal("dtype,m,n,k,device,latency_us\nbf16,1,2,3,h100,4\nbf16,1,2,3,a100,4\n"),
                "several devices (h100 and a100)"));
    CHECK(holds(refusal("{\"benchmarks\": [", "run.json"), "run.json: is not valid JSON"));
    CHECK(holds(refusal("{\"rows\": []}", "run.json"), "is neither nvbench's nor Google Benchmark's JSON"));
    CHECK_THROWS_AS(read_kernel_tables({"no-such-file.csv"}, device("h100-sxm")), text::InputError);
    CHECK_THROWS_AS(read_kernel_tables({(source_folder() / "examples").string()}, device("h100-sxm")), text::InputError);
}

TEST_CASE("experts: whole layers of one rank by kernel family, with the experts that the routing touched") {
    const std::string header = "dtype,tokens,hidden,intermediate,top_k,experts,tp,ep,distribution,kernel,latency_us\n";
    const std::vector<KernelTable> tables = tables_of(header +
                                                          "bf16,64,4096,1536,8,128,2,1,balanced,a_triton_b,700\n"
                                                          "bf16,64,4096,1536,8,128,1,4,balanced,a_triton_b,300\n"
                                                          "bf16,64,2688,1856,6,128,1,1,power_law_1.2,a_triton_b,900\n"
                                                          "fp8,64,4096,1536,8,128,1,1,balanced,x_cutlass_y,800\n",
                                                      "h100_experts.csv");
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].family == "triton");
    CHECK(tables[1].family == "cutlass, per tensor");
    REQUIRE(tables[0].samples.size() == 2);
    CHECK(tables[0].left_out == 1);  // dealt out over four ranks
    // All 128 experts of 3 · 4096 · 768 weights, and 64 · 8 rows of 2 · 4096 + 4 · 768 activations.
    CHECK(bytes_at(tables[0].samples[0]).value() == Approx(2.0 * (128.0 * 3 * 4096 * 768 + 512.0 * (2 * 4096 + 4 * 768))));
    // Without a gate, and skewed: fewer than all experts, more than the half that the busiest alone would leave.
    const double touched = bytes_at(tables[0].samples[1]).value() / (2.0 * 2 * 2688 * 1856);
    CHECK(touched > 64.0);
    CHECK(touched < 128.0);
}

TEST_CASE("collectives: all-reduces by library, the faster of two times of one size, none that the host launches one by one") {
    const std::string header = "library,how,operation,ranks,bytes,latency_us\n";
    const std::vector<KernelTable> tables = tables_of(header +
                                                          "nccl,call,all_reduce,2,1024,6.5\n"
                                                          "nccl,call,all_reduce,2,1024,6.0\n"
                                                          "nccl,call,all_gather,2,1024,5.0\n"
                                                          "vllm,eager,all_reduce,2,1024,21\n"
                                                          "vllm,graph,all_reduce,4,1024,4.5\n",
                                                      "h100_collectives.csv");
    REQUIRE(tables.size() == 2);
    // NCCL last: an engine's own kernels stand in for those of engines that were not measured.
    CHECK(tables[0].family == "vllm");
    CHECK(tables[0].left_out == 1);
    CHECK(bytes_at(tables[0].samples[0]).value() == Approx(1.5 * 1024.0));  // what a ring of four moves
    CHECK(tables[1].family == "nccl");
    REQUIRE(tables[1].samples.size() == 1);
    CHECK(tables[1].samples[0].time.value() == Approx(6e-6));
    CHECK(tables[1].left_out == 1);
    CHECK(holds(refusal(header + "vllm,graph,all_reduce,1,1024,4.5\n", "h100_collectives.csv"),
                "ranks must be a number of at least 2"));
}

TEST_CASE("rows that contradict each other are refused with file and row") {
    const std::string gemm = "dtype,m,n,k,latency_us\nbf16,1,8192,8192,60\n";
    CHECK(tables_of(gemm + "bf16,1,8192,8192,80\n", "h100_gemm.csv").size() == 1);  // within 1.5: noise
    CHECK(
        holds(refusal(gemm + "bf16,2,8192,8192,61\nbf16,1,8192,8192,300\n", "h100_gemm.csv"),
              "h100_gemm.csv: line 4: takes 300 us, where h100_gemm.csv: line 2 says 60 us of the same kernel and shape: leave "
              "one of them out"));
    // Two frameworks for one law may differ as kernels do, by up to 3.
    const std::string header =
        "framework,kernel,phase,fused_conv,batch,tokens,heads,head_k_dim,head_v_dim,state_dtype,state_bytes_per_seq,latency_"
        "us\n";
    const std::string shape = ",decode,0,512,1,24,128,128,fp32,1572864,";
    CHECK(tables_of(header + "sglang,a" + shape + "700\nvllm,b" + shape + "1400\n", "h100_recurrent_verify.csv").size() == 1);
    CHECK(
        holds(refusal(header + "sglang,a" + shape + "700\nvllm,b" + shape + "2800\n", "h100_recurrent_verify.csv"),
              "line 3: takes 2800 us, where h100_recurrent_verify.csv: line 2 says 700 us of the same shape, and both rows of "
              "sglang and vllm are for one law (scan, fp32)"));
}

TEST_CASE("latent attention and prompts are told from decode attention by their columns") {
    const std::vector<KernelTable> latent = tables_of(
        "phase,heads,batch,query_tokens,context,kv_dtype,kernel,latency_us\n"
        "decode,16,64,1,4096,bf16,fa,180\nprefill,16,1,512,512,bf16,fa,40\n",
        "h100_latent_attention.csv");
    REQUIRE(latent.size() == 2);
    CHECK(latent[0].kernel == sim::KernelClass::latent_attention);
    CHECK(latent[1].kernel == sim::KernelClass::latent_prompt);
    // 4,095 cached tokens and the new one, of 576 elements in 16 bits, and 2 · 16 · 512 elements in and out.
    CHECK(bytes_at(latent[0].samples[0]).value() == Approx(64.0 * 2.0 * (4096.0 * 576 + 2.0 * 16 * 512)));
    const std::vector<KernelTable> prompts = tables_of(
        "batch,tokens,q_heads,kv_heads,head_dim,window,kv_dtype,latency_us\n"
        "2,512,8,2,128,0,bf16,40\n2,512,8,2,64,128,bf16,40\n2,512,8,2,256,0,bf16,40\n",
        "h100_attention_prefill.csv");
    REQUIRE(prompts.size() == 2);
    CHECK(prompts[0].kernel == sim::KernelClass::prompt_attention);
    CHECK(prompts[0].family == "128");
    CHECK(prompts[0].left_out == 1);  // heads of 256
    CHECK(prompts[1].kernel == sim::KernelClass::prompt_window);
    CHECK(prompts[1].family == "64");
}

TEST_CASE("products in NVFP4 and with scales of blocks are tables of their own, by the engine") {
    const std::vector<KernelTable> tables = tables_of(
        "framework,version,kernel,dtype,m,n,k,latency_us\n"
        "vllm,0.24.0,cutlass,nvfp4,16,16384,16384,100.0\n"
        "trtllm,1.3,deepgemm,fp8_block,16,16384,16384,100.0\n",
        "h100_gemm_scaled.csv");
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].format == sim::NumberFormat::fp4);
    CHECK(tables[0].family == "vllm");
    CHECK(tables[1].format == sim::NumberFormat::fp8);
    CHECK(tables[1].family == "trtllm, block-scaled");
    // Weights of 4 bits and 8 bits of scale for 16 of them, of 8 bits and 32 for 128 x 128; 16-bit activations, 2 B each.
    const double weights = 16384.0 * 16384.0, activations = 2.0 * 16 * (16384 + 16384);
    CHECK(bytes_at(tables[0].samples[0]).value() == Approx(weights * 4.5 / 8.0 + activations));
    CHECK(bytes_at(tables[1].samples[0]).value() == Approx(weights * (8.0 + 32.0 / 16384.0) / 8.0 + activations));
}

TEST_CASE("experts in four bits by name: weight-only, with 4-bit and with 8-bit activations") {
    const std::string header = "dtype,tokens,hidden,intermediate,top_k,experts,tp,ep,distribution,kernel,latency_us\n";
    const std::string shape = ",4,7168,2048,8,256,1,1,balanced,";
    const std::vector<KernelTable> tables = tables_of(header + "nvfp4" + shape + "flashinfer_trtllm,100\nw4a8_mxfp4_mxfp8" +
                                                          shape + "flashinfer_trtllm,100\nw4a16_mxfp4" + shape + "marlin,100\n",
                                                      "h100_experts_fp4.csv");
    REQUIRE(tables.size() == 3);
    CHECK(tables[0].family == "trtllm, nvfp4");
    CHECK(tables[1].family == "trtllm, mxfp8");
    CHECK(tables[2].family == "marlin");
}

TEST_CASE("one row that takes longer than two in most layers is left out") {
    const auto one_row = [](const char* time) {
        std::string text = "dtype,m,n,k,latency_us\n";
        for (const char* n : {"16384", "32768", "65536"}) {
            text += std::string("fp8,1,") + n + ",16384," + time + "\nfp8,2," + n + ",16384,100.0\n";
        }
        return tables_of(text).front();
    };
    CHECK(one_row("99.0").samples.size() == 6);
    CHECK(one_row("115.0").samples.size() == 3);
    CHECK(one_row("115.0").left_out == 3);
}

TEST_CASE("editions of a table in two folders count once, and a folder without tables of the device is passed over") {
    const std::filesystem::path root = std::filesystem::temp_directory_path() / fmt::format("treeline_editions_{}", ::getpid());
    const auto write = [&](const char* folder, const std::string& text) {
        std::filesystem::create_directories(root / folder);
        std::ofstream(root / folder / "h100_gemm.csv") << text;
        return (root / folder).string();
    };
    const std::string row = "bf16,1,16384,8192,100.0";
    const std::string first = write("first", "dtype,m,n,k,latency_us\n" + row + "\n");
    const std::string second = write("second", "dtype,m,n,k,latency_us,version\n" + row + ",2\nbf16,2,16384,8192,101.0,2\n");
    std::filesystem::create_directories(root / "empty");
    const std::string empty = (root / "empty").string();
    const std::vector<MeasuredFile> files = read_measured_files({empty, first, second}, device("h100-sxm"));
    REQUIRE(files.size() == 2);
    CHECK(files[0].rows.size() == 1);
    REQUIRE(files[1].rows.size() == 1);  // the row of the first edition is not there again
    CHECK(files[1].rows[0].values.at("m") == "2");
    CHECK_THROWS_AS(read_measured_files({empty}, device("h100-sxm")), text::InputError);
    std::filesystem::remove_all(root);
}

}  // namespace kernel_tables_test
