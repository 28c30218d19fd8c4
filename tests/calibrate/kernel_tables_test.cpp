// Tables of measured kernels: what is read, and one sentence for each kind of bad input.
#include <catch2/catch.hpp>

#include "calibrate/tables/kernel_tables.h"
#include "json/reader.h"
#include "setups.h"

using namespace treeline;
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
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a CSV table becomes samples, without what ran from the cache") {
    const std::vector<KernelTable> tables = tables_of(gemm_csv);
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].kernel == KernelClass::gemm);
    CHECK(tables[0].format == NumberFormat::bf16);
    CHECK(tables[0].samples.size() == 6);
    CHECK(tables[0].left_out == 1);  // 4096 · 4096 · 2 B = 34 MB < 2 · 50 MB
    CHECK(tables[0].samples[0].time.value() == Approx(100e-6));
    // 2 · 16 · 16384 · 8192 FLOPs and 2 B · (16384 · 8192 + 16 · (16384 + 8192)).
    const ShapeTerms terms = terms_of(tables[0].samples[1].shape);
    CHECK(flops_of<false>(tables[0].samples[1].operation, terms).value() == 2.0 * 16 * 16384 * 8192);
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
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,2,3\n"), "line 2: has 4 fields, but the header 5"));
    CHECK(holds(refusal("dtype,m,k,latency_us\nbf16,1,2,3\n"), "line 2: has no column n"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf17,1,2,3,4\n"), "dtype \"bf17\" is no number format"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,0,2,3,4\n"), "m must be a number of at least 1, not \"0\""));
    CHECK(holds(refusal("a,b,latency_us\n1,2,3\n"), "is no gemm, attention, experts, collective, recurrent or convolution row"));
    CHECK(holds(refusal("dtype,m,n,k,latency_us\nbf16,1,32768,16384,370\nbf16,2,32768,16384,371\n"),
                "holds 1 shape of gemm in bf16"));
    CHECK(holds(refusal(gemm_csv, "l40s_gemm.csv"), "is a table of l40s by its name, not of h100-sxm"));
    CHECK(holds(refusal("dtype,m,n,k,device,latency_us\nbf16,1,2,3,L40S,4\n"), "was measured on L40S, not on h100-sxm"));
    CHECK(holds(refusal("dtype,m,n,k,device,latency_us\nbf16,1,2,3,h100,4\nbf16,1,2,3,a100,4\n"),
                "several devices (h100 and a100)"));
    CHECK(holds(refusal("{\"benchmarks\": [", "run.json"), "run.json: is not valid JSON"));
    CHECK(holds(refusal("{\"rows\": []}", "run.json"), "is neither nvbench's nor Google Benchmark's JSON"));
    CHECK_THROWS_AS(read_kernel_tables({"no-such-file.csv"}, device("h100-sxm")), InputError);
    CHECK_THROWS_AS(read_kernel_tables({(source_folder() / "examples").string()}, device("h100-sxm")), InputError);
}
