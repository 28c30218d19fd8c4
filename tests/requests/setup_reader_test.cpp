// Drafters, acceptance, precision, platforms and axes as input files write them.
#include "requests/setup_reader.h"
#include "requests/placement_reader.h"
#include "sim/placement.h"

#include <catch2/catch.hpp>

#include "json_input.h"
#include "setups.h"
#include "text/precision_text.h"

namespace setup_reader_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::Input;

namespace {

sweeps::DrafterChoice drafter(Input& input) { return read_drafter(input.root.object("d"), input.descriptions); }

std::string drafter_problem(const std::string& keys) {
    Input input(R"({"d": {)" + keys + R"(, "acceptance": {"geometric": 0.8}}})");
    static_cast<void>(drafter(input));
    return input.problems();
}

AcceptanceChoice acceptance(const std::string& keys) {
    Input input("{\"a\": {" + keys + "}}");
    AcceptanceChoice choice = read_acceptance(input.root.object("a"), input.descriptions);
    CHECK(input.problems().empty());
    return choice;
}

std::string acceptance_problem(const std::string& keys) {
    Input input("{\"a\": {" + keys + "}}");
    static_cast<void>(read_acceptance(input.root.object("a"), input.descriptions));
    return input.problems();
}

std::vector<int> axis(const std::string& value) {
    Input input("{\"x\": " + value + "}");
    std::vector<int> values = read_axis(input.root, "x", 0, 1'000'000);
    CHECK(input.problems().empty());
    return values;
}

std::string axis_problem(const std::string& value, int low = 0, int high = 1'000'000) {
    Input input("{\"x\": " + value + "}");
    static_cast<void>(read_axis(input.root, "x", low, high));
    return input.problems();
}

sim::Precision precision(const std::string& value, const sim::Precision& published) {
    Input input("{\"p\": " + value + "}");
    const sim::Precision result = read_precision(input.root, "p", published);
    CHECK(input.problems().empty());
    return result;
}

}  // namespace

TEST_CASE("each kind of drafter is read with its keys") {
    Input input(
        R"({"d": {"kind": "model", "model": "llama-3.2-1b", "precision": "fp8", "name": "small", "acceptance": {"geometric": 0.8}}})");
    const sweeps::DrafterChoice model = drafter(input);
    REQUIRE(input.problems().empty());
    CHECK(model.label == "small");
    CHECK(std::get<sim::IndependentDrafter>(model.drafter).model.name == "llama-3.2-1b");
    CHECK(std::get<sim::IndependentDrafter>(model.drafter).precision.weights.format == sim::NumberFormat::fp8);
    CHECK(model.acceptance.chain.position(2) == Approx(0.64));  // 0.8²

    Input sparse(R"({"d": {"kind": "sparse-self", "window": 512, "sink": 4, "acceptance": {"geometric": 0.8}}})");
    const sim::ContextReach reach = std::get<sim::SelfDrafter>(drafter(sparse).drafter).reach;
    CHECK(reach == sim::ContextReach{512.0, 4.0, 1.0});

    Input spire(
        R"({"d": {"kind": "spire", "layers": 2, "share": 0.125, "sink": 1, "feedback_memory": false, "acceptance": {"geometric": 0.8}}})");
    const auto pruned = std::get<sim::SpireDrafter>(drafter(spire).drafter);
    CHECK(pruned.layers == 2);
    CHECK(pruned.reach == sim::ContextReach{sim::unlimited, 1.0, 0.125});
    CHECK_FALSE(pruned.feedback_memory);

    for (const char* alias : {"one-layer", "eagle", "eagle3", "mtp"}) {
        Input one(std::string(R"({"d": {"kind": ")") + alias +
                  R"(", "draft_vocabulary": 32000, "acceptance": {"geometric": 0.8}}})");
        CHECK(std::get<sim::OneLayerDrafter>(drafter(one).drafter).draft_vocabulary == 32000);
        CHECK(one.problems().empty());
    }
    const auto head = [](const std::string& kind) {
        Input one(R"({"d": {"kind": ")" + kind + R"(", "acceptance": {"geometric": 0.8}}})");
        return std::get<sim::OneLayerDrafter>(drafter(one).drafter);
    };
    CHECK(head("one-layer").kind == sim::OneLayerKind::generic);
    CHECK(head("eagle").kind == sim::OneLayerKind::eagle);
    CHECK(head("mtp").kind == sim::OneLayerKind::mtp);
    CHECK(head("mtp").draft_vocabulary == 0);
    CHECK(head("mtp").input_features == 2);
    CHECK(head("eagle3").kind == sim::OneLayerKind::eagle3);
    CHECK(head("eagle3").draft_vocabulary == 32000);  // config.json of yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
    CHECK(head("eagle3").input_features == 3);        // arXiv 2503.01840, section 3
    Input medusa(R"({"d": {"kind": "medusa", "acceptance": {"geometric": 0.8}}})");
    CHECK(std::get<sim::MedusaDrafter>(drafter(medusa).drafter).heads == 4);
    Input ngram(R"({"d": {"kind": "ngram", "lookup_us_per_sequence": 25, "acceptance": {"geometric": 0.8}}})");
    CHECK(std::get<sim::NgramDrafter>(drafter(ngram).drafter).lookup_per_sequence.value() == Approx(25e-6));
}

TEST_CASE("a drafter that is described wrongly is a sentence at its place") {
    CHECK(drafter_problem(R"("kind": "eagel")").find("in: d.kind: must be model") == 0);
    CHECK(drafter_problem(R"("kind": "eagel")").find("did you mean \"eagle\"") != std::string::npos);
    CHECK(drafter_problem(R"("model": "llama-3.2-1b")") == "in: d.kind: is missing");
    CHECK(drafter_problem(R"("kind": "model", "model": "llama-3.2-1bb")").find("did you mean \"llama-3.2-1b\"") !=
          std::string::npos);
    CHECK(drafter_problem(R"("kind": "ngram", "heads": 3)").find("in: d.heads: unknown key") == 0);
    CHECK(drafter_problem(R"("kind": "sparse-self")").find("window") != std::string::npos);
    CHECK(drafter_problem(R"("kind": "sparse-self", "window": 5, "share": 0.5)").find("both window and share") !=
          std::string::npos);
    CHECK(drafter_problem(R"("kind": "spire", "share": 0.5)") == "in: d.layers: is missing");

    Input silent(R"({"d": {"kind": "ngram"}})");
    static_cast<void>(drafter(silent));
    CHECK(silent.problems() == "in: d.acceptance: is missing");
}

TEST_CASE("a module that is published apart from the checkpoint of its family") {
    Input input(R"({"d": {"kind": "mtp", "acceptance": {"geometric": 0.8}}})");
    const sim::Model target = treeline::testing::model("gemma-4-31b");
    DrafterUse use;
    use.target = &target;
    const sweeps::DrafterChoice choice = read_drafter(input.root.object("d"), input.descriptions, use);
    CHECK(input.problems().empty());
    CHECK(std::get<sim::OneLayerDrafter>(choice.drafter).reads_target_cache);
    CHECK(choice.acceptance.chain.position(1) == Approx(0.8));
    // None is published for models of another family.
    Input other(R"({"d": {"kind": "mtp", "acceptance": {"geometric": 0.8}}})");
    const sim::Model without = treeline::testing::model("llama-3-8b");
    use.target = &without;
    static_cast<void>(read_drafter(other.root.object("d"), other.descriptions, use));
    CHECK(other.problems().find("has no module for multi-token prediction") != std::string::npos);
}

TEST_CASE("acceptance is one of five kinds") {
    // One rate, or one mean length, falls as measured curves do unless somebody says otherwise.
    const AcceptanceChoice rate = acceptance(R"("rate": 0.75)");
    CHECK(rate.text == "0.75 at the first position, later ones as measured curves fall");
    CHECK(rate.acceptance.chain.accept_length(4) == Approx(sim::Acceptance::falling(0.75).accept_length(4)));
    CHECK(acceptance(R"("geometric": 0.75)").text == "0.75 at every position");
    CHECK(acceptance(R"("rate": 0.5, "fall": 0)").acceptance.chain.accept_length(3) == Approx(1.875));
    CHECK(acceptance(R"("rate": 0.5, "fall": 0.4)").text == "0.5 at the first position, later ones falling as i^-0.4");
    CHECK(acceptance(R"("mean_length": 3.2, "draft_tokens": 4)").acceptance.chain.accept_length(8) <
          acceptance(R"("mean_length": 3.2, "draft_tokens": 4, "fall": 0)").acceptance.chain.accept_length(8));
    CHECK(acceptance(R"("geometric": 0.5)").acceptance.chain.accept_length(3) == Approx(1.875));  // 1 + 1/2 + 1/4 + 1/8
    CHECK(acceptance(R"("per_position": [0.8, 0.6])").acceptance.chain.accept_length(2) == Approx(2.4));
    CHECK(acceptance(R"("mean_length": 3.2, "draft_tokens": 4)").acceptance.chain.accept_length(4) == Approx(3.2));
    CHECK(acceptance(R"("curve": {"1": 1.84, "2": 2.5})").acceptance.chain.accept_length(2) == Approx(2.5));
    const AcceptanceChoice described = acceptance(R"("mean_length": 3.2, "draft_tokens": 4, "source": "a run of ours")");
    CHECK(described.source == "a run of ours");
    CHECK(described.text == "3.20 tokens per round with 4 drafts");
}

TEST_CASE("an acceptance may be off by where it comes from") {
    CHECK(acceptance(R"("rate": 0.75)").acceptance.origin == sim::AcceptanceOrigin::other_requests);
    const sim::DraftAcceptance assumed = acceptance(R"("rate": 0.75, "origin": "assumed")").acceptance;
    CHECK(assumed.spread == sim::spread_of(sim::AcceptanceOrigin::assumed));
    const sim::DraftAcceptance few = acceptance(R"("per_position": [0.75, 0.5], "rounds": 100)").acceptance,
                               many = acceptance(R"("per_position": [0.75, 0.5], "rounds": 100000)").acceptance,
                               unknown = acceptance(R"("per_position": [0.75, 0.5], "origin": "own-run")").acceptance;
    CHECK(many.origin == sim::AcceptanceOrigin::own_run);
    CHECK(many.spread < 1.1 * sim::spread_of(sim::AcceptanceOrigin::own_run));
    CHECK(few.spread > 3.0 * many.spread);
    CHECK(unknown.spread == sim::spread_of(sim::AcceptanceOrigin::these_requests));
    CHECK(many.spread_text == "counted in a run of your own, 100,000 rounds");
    CHECK(acceptance_problem(R"("rate": 0.75, "rounds": 100, "origin": "assumed")").find("own-run") != std::string::npos);
    CHECK(acceptance_problem(R"("rate": 0.75, "origin": "mine")").find("own-run") != std::string::npos);
}

TEST_CASE("acceptance that cannot be is refused") {
    CHECK(
        acceptance_problem("") ==
        "in: a: needs one of rate, per_position, mean_length, curve, published, file and geometric, or per_rank, or measured");
    CHECK(acceptance_problem(R"("geometric": 0.8, "per_position": [0.8])").find("gives geometric and per_position") !=
          std::string::npos);
    CHECK(acceptance_problem(R"("geometric": 1.01)").find("must lie between 0 and 1") != std::string::npos);
    CHECK(acceptance_problem(R"("per_position": [])").find("is empty") != std::string::npos);
    CHECK(acceptance_problem(R"("per_position": [0.5, 0.6])").find("must not increase") != std::string::npos);
    CHECK(acceptance_problem(R"("mean_length": 5.5, "draft_tokens": 4)").find("at most 5 per round") != std::string::npos);
    CHECK(acceptance_problem(R"("mean_length": 3)").find("draft_tokens: is missing") != std::string::npos);
    CHECK(acceptance_problem(R"("curve": {})").find("is empty") != std::string::npos);
    CHECK(acceptance_problem(R"("curve": {"one": 1.5})").find("must be a number of draft tokens") != std::string::npos);
    CHECK(acceptance_problem(R"("curve": {"1": 2.5})").find("must lie between 1 and 2") != std::string::npos);
    CHECK(
        acceptance_problem(R"("curve": {"1": 1.6, "4": 4.6})") ==
        "in: a.curve: rises from 1.6 at 1 draft tokens to 4.6 at 4: a draft is accepted no more often than those before it, so "
        "that 4 yield at most 3.40");
    CHECK(acceptance_problem(R"("curve": {"1": 1.8, "2": 2.9})").find("so that 2 yield at most 2.60") != std::string::npos);
    CHECK(acceptance_problem(R"("curve": {"1": 1.8, "01": 1.9})").find("states 1 draft tokens a second time") !=
          std::string::npos);
    CHECK(acceptance_problem(R"("geometrik": 0.8)").find("did you mean \"geometric\"") != std::string::npos);
}

TEST_CASE("a format's name is what checkpoints of that name hold") {
    const sim::Precision published = sim::uniform_precision(sim::NumberFormat::fp16);
    const sim::Precision fp8 = precision("\"fp8\"", published);
    CHECK(fp8.weights == sim::Storage{sim::NumberFormat::fp8});
    CHECK(fp8.experts == fp8.weights);
    CHECK(fp8.math == sim::NumberFormat::fp8);
    for (const sim::Storage& kept : {fp8.embeddings, fp8.activations, fp8.kv_cache}) {
        CHECK(kept == sim::Storage{sim::NumberFormat::fp16});  // as published
    }
    CHECK(fp8.state.format == sim::NumberFormat::fp32);
    CHECK(text::text_of(fp8) ==
          "weights fp8, embeddings fp16, activations fp16, key-value cache fp16, recurrent state fp32; "
          "products in fp8, of attention in fp16, of the LM head in fp16");
    // NVFP4: (4 + 8/16)/8 bytes; MXFP4: (4 + 8/32)/8; GPTQ and AWQ: (4 + 16/128)/8, widened before the product.
    CHECK(precision("\"fp4\"", published).weights.per_element().value() == 0.5625);
    CHECK(precision("\"nvfp4\"", published) == precision("\"fp4\"", published));
    CHECK(precision("\"mxfp4\"", published).weights.per_element().value() == 0.53125);
    CHECK(precision("\"int4\"", published).weights.per_element().value() == 0.515625);
    CHECK(precision("\"int4\"", published).math == sim::NumberFormat::fp16);
    CHECK(precision("\"int8\"", published).math == sim::NumberFormat::int8);
    // A cache that the model's description states in fewer bits is not widened by a word for weights; the whole model in 16
    // bits is asked for by its own word.
    sim::Precision narrow = published;
    narrow.kv_cache = sim::Storage{sim::NumberFormat::fp8};
    CHECK(precision("\"fp8\"", narrow).kv_cache.format == sim::NumberFormat::fp8);
    CHECK(precision("\"nvfp4\"", narrow).kv_cache.format == sim::NumberFormat::fp8);
    CHECK(precision(R"({"checkpoint": "fp8", "kv_cache": "bf16"})", narrow).kv_cache.format == sim::NumberFormat::bf16);
    CHECK(precision("\"bf16\"", narrow).kv_cache.format == sim::NumberFormat::bf16);
    // 16 bits and more: everything.
    const sim::Precision bf16 = precision("\"bf16\"", published);
    CHECK(bf16.weights == sim::Storage{sim::NumberFormat::bf16});
    CHECK(bf16.kv_cache == bf16.weights);
    CHECK(bf16.state.format == sim::NumberFormat::fp32);
}

TEST_CASE("\"all\" is every tensor but the recurrent state, less what the object names") {
    const sim::Precision all =
        precision(R"({"all": "fp8", "kv_cache": "bf16"})", sim::uniform_precision(sim::NumberFormat::bf16));
    sim::Precision expected = sim::uniform_precision(sim::NumberFormat::fp8);
    expected.state = {sim::NumberFormat::fp32};
    expected.kv_cache = {sim::NumberFormat::bf16};
    CHECK(all == expected);
}

TEST_CASE("a checkpoint by its word, less what the deployment changes") {
    const sim::Precision published = sim::uniform_precision(sim::NumberFormat::bf16);
    sim::Precision expected = precision("\"nvfp4\"", published);
    CHECK(precision(R"({"checkpoint": "nvfp4"})", published) == expected);
    expected.kv_cache = {sim::NumberFormat::fp8};
    CHECK(precision(R"({"checkpoint": "nvfp4", "kv_cache": "fp8"})", published) == expected);
    Input both(R"({"p": {"checkpoint": "nvfp4", "all": "fp8"}})");
    static_cast<void>(read_precision(both.root, "p", published));
    CHECK(both.problems() == "in: p.all: names no part that \"checkpoint\" leaves open; give one of them");
    Input slip(R"({"p": {"checkpoint": "nvpf4"}})");
    static_cast<void>(read_precision(slip.root, "p", published));
    CHECK_THAT(slip.problems(), Catch::Contains("did you mean \"nvfp4\""));
}

TEST_CASE("an object of precisions replaces only what it names") {
    sim::Precision published = sim::uniform_precision(sim::NumberFormat::bf16);
    published.experts.format = sim::NumberFormat::fp8;
    const sim::Precision mixed =
        precision(R"({"weights": {"format": "int4", "group_size": 128}, "kv_cache": "fp8"})", published);
    CHECK(mixed.weights.per_element().value() == Approx(0.515625));  // (4 + 16/128) / 8
    CHECK(mixed.experts == mixed.weights);                           // routed experts are weights, unless named
    CHECK(mixed.kv_cache.format == sim::NumberFormat::fp8);
    CHECK(mixed.activations.format == sim::NumberFormat::bf16);
    CHECK(mixed.math == sim::NumberFormat::bf16);
    CHECK(precision(R"({"kv_cache": "fp8"})", published).experts.format == sim::NumberFormat::fp8);
    CHECK(text::text_of(mixed).find("weights int4 (16-bit scale per 128)") == 0);
}

TEST_CASE("axes are lists, single values, ranges and powers of two") {
    CHECK(axis("5") == std::vector<int>{5});
    CHECK(axis("[1, 2, 4]") == std::vector<int>{1, 2, 4});
    CHECK(axis(R"({"from": 1, "to": 4})") == std::vector<int>{1, 2, 3, 4});
    CHECK(axis(R"({"from": 1, "to": 8, "step": 3})") == std::vector<int>{1, 4, 7});
    CHECK(axis(R"({"powers_of_two": {"from": 3, "to": 33}})") == std::vector<int>{4, 8, 16, 32});
}

TEST_CASE("axes that hold nothing or nonsense are refused") {
    CHECK(axis_problem("[]") == "in: x: is empty, but at least one element is needed");
    CHECK(axis_problem(R"({"from": 5, "to": 4})") == "in: x: runs backwards, from 5 to 4");
    CHECK(axis_problem(R"({"from": 1, "to": 4, "step": 0})").find("in: x.step: is 0") == 0);
    CHECK(axis_problem(R"({"from": 1, "to": 200000})").find("at most 100000 are allowed") != std::string::npos);
    CHECK(axis_problem(R"({"powers_of_two": {"from": 5, "to": 7}})").find("no power of two") != std::string::npos);
    CHECK(axis_problem(R"({"power_of_two": {"from": 1, "to": 8}})").find("did you mean \"powers_of_two\"") !=
          std::string::npos);
    CHECK(axis_problem("[1, 1]") == "in: x: holds 1 twice");
    CHECK(axis_problem("[1.5]").find("must be a whole number") != std::string::npos);
    CHECK(axis_problem("[0]", 1).find("must lie between 1") != std::string::npos);
    CHECK(axis_problem("\"many\"").find("must be a whole number") != std::string::npos);
}

TEST_CASE("platforms are a device's name or an object") {
    Input input(
        R"({"a": "h100-sxm", "b": {"device": "h100-sxm", "tensor_parallel": 8, "interconnect": "pcie", "stack": "vllm", "mode": "hoi"}})");
    const sim::Platform plain = read_platform(input.root.object_or_text("a", "device"), input.descriptions);
    const sim::Platform full = read_platform(input.root.object_or_text("b", "device"), input.descriptions);
    REQUIRE(input.problems().empty());
    CHECK(plain.stack.name == "cuda-graph");
    CHECK(plain.ranks == 1.0);
    CHECK(plain.mode == sim::CostMode::roofline);
    CHECK(full.stack.name == "vllm-0.26");  // the newest version
    CHECK(full.mode == sim::CostMode::hoi);
    CHECK(sweeps::label_of(full) == "8 x h100-sxm (pcie), hoi mode");
    CHECK_FALSE(input.descriptions.provenance().empty());
}

TEST_CASE("a platform may limit the power of its devices where what that takes is known") {
    Input input(
        R"({"a": {"device": "rtx-5090", "stack": "llama.cpp", "power_limit": 400}, "b": {"device": "rtx-5090", "stack": "llama.cpp"},
                    "c": {"device": "rtx-5090", "stack": "llama.cpp", "power_limit": 300},
                    "d": {"device": "h100-sxm", "stack": "vllm", "power_limit": 500}})");
    const sim::Platform limited = read_platform(input.root.object("a"), input.descriptions);
    const sim::Platform free = read_platform(input.root.object("b"), input.descriptions);
    REQUIRE(input.problems().empty());
    CHECK(limited.device.bandwidth < free.device.bandwidth);
    CHECK(limited.device.power_limit == Watts(400.0));
    read_platform(input.root.object("c"), input.descriptions);
    read_platform(input.root.object("d"), input.descriptions);
    REQUIRE(input.document.problems().size() == 2);
    CHECK_THAT(input.document.problems()[0], Catch::Contains("c.power_limit: must be at least 400 W"));
    CHECK_THAT(input.document.problems()[1], Catch::Contains("d.power_limit") && Catch::Contains("not known"));
}

TEST_CASE("a limit of power that is none is one problem, and so is one that is too small") {
    Input input(R"({"a": {"device": "h100-sxm", "power_limit": "abc"}, "b": {"device": "rtx-5090", "power_limit": 1},
                    "c": {"device": "rtx-5090", "power_limit": 20000}})");
    read_platform(input.root.object("a"), input.descriptions);
    read_platform(input.root.object("b"), input.descriptions);
    read_platform(input.root.object("c"), input.descriptions);
    REQUIRE(input.document.problems().size() == 3);
    CHECK_THAT(input.document.problems()[0], Catch::Contains("a.power_limit: must be a number"));
    CHECK_THAT(input.document.problems()[1], Catch::Contains("b.power_limit: must be at least 400 W"));
    CHECK_THAT(input.document.problems()[2], Catch::Contains("c.power_limit: is 20000"));
}

TEST_CASE("a platform may state its own host and share of the memory") {
    Input input(R"({"a": {"device": "h100-sxm", "stack": "vllm", "host_speed": 0.3, "memory_utilisation": 0.8},
                    "b": {"device": "h100-sxm", "stack": "vllm"}, "c": {"device": "h100-sxm", "host_speed": 100}})");
    const sim::Platform own = read_platform(input.root.object("a"), input.descriptions);
    const sim::Platform usual = read_platform(input.root.object("b"), input.descriptions);
    REQUIRE(input.problems().empty());
    CHECK(own.device.host_speed == 0.3);
    CHECK(own.memory_utilisation == 0.8);
    CHECK(usual.device.host_speed == 0.66);
    CHECK_FALSE(usual.memory_utilisation);
    read_platform(input.root.object("c"), input.descriptions);
    REQUIRE(input.document.problems().size() == 1);
    CHECK_THAT(input.document.problems().front(), Catch::Contains("c.host_speed"));
}

TEST_CASE("a CPU runs on the stack cpu unless another is named") {
    Input input(R"({"a": "generic-x86", "b": {"device": "generic-x86", "stack": "ideal"}})");
    CHECK(read_platform(input.root.object_or_text("a", "device"), input.descriptions).stack.name == "cpu");
    CHECK(read_platform(input.root.object_or_text("b", "device"), input.descriptions).stack.name == "ideal");
    CHECK(input.problems().empty());
}

TEST_CASE("more devices than a link joins are joined by a slower one, which the label says") {
    Input input(R"({"a": {"device": "h100-sxm", "tensor_parallel": 8}, "b": {"device": "h100-sxm", "tensor_parallel": 16}})");
    CHECK(sweeps::label_of(read_platform(input.root.object("a"), input.descriptions)) == "8 x h100-sxm (nvlink), cuda-graph");
    CHECK(sweeps::label_of(read_platform(input.root.object("b"), input.descriptions)) ==
          "16 x h100-sxm (network, as nvlink joins 8 devices), cuda-graph");
}

TEST_CASE("a description is read once, and its provenance is kept once") {
    Input input(R"({"a": "h100-sxm", "b": "h100-sxm"})");
    static_cast<void>(read_platform(input.root.object_or_text("a", "device"), input.descriptions));
    const std::size_t after_one = input.descriptions.provenance().size();
    static_cast<void>(read_platform(input.root.object_or_text("b", "device"), input.descriptions));
    CHECK(after_one > 0);
    CHECK(input.descriptions.provenance().size() == after_one);
}

TEST_CASE("a platform's degrees of parallelism, and the number of devices that they make") {
    Input input(R"({"a": {"device": "h200", "tensor_parallel": 2, "attention_data_parallel": 4, "expert_parallel": 8,
                          "pipeline_parallel": 2, "draft_tensor_parallel": 1, "gpus": 16},
                    "b": {"device": "h200", "gpus": 4},
                    "c": {"device": "h200", "tensor_parallel": 2, "gpus": 8}})");
    const sim::Platform full = read_platform(input.root.object("a"), input.descriptions);
    CHECK(full.ranks == 2.0);
    CHECK(full.parallel == sim::Parallelism{4.0, 8.0, 2.0, 1.0});
    CHECK(full.devices() == 16.0);
    CHECK(sweeps::label_of(full) ==
          "16 x h200 (network, as nvlink joins 8 devices; tensor 2, attention data 4, experts 8, pipeline 2), cuda-graph");
    CHECK(read_platform(input.root.object("b"), input.descriptions).ranks == 4.0);
    CHECK(input.document.problems().empty());
    read_platform(input.root.object("c"), input.descriptions);
    REQUIRE(input.document.problems().size() == 1);
    CHECK_THAT(input.document.problems().front(),
               Catch::Contains("c.gpus") && Catch::Contains("is 8, but tensor_parallel 2 x attention_data_parallel 1 x "
                                                            "pipeline_parallel 1 make 2 devices"));
}

TEST_CASE("in a search gpus stand for every cut, or for those with the degrees that are given") {
    Input input(R"({"all": {"device": "h200", "gpus": 8, "stack": "vllm"},
                    "some": {"device": "h200", "gpus": 8, "stack": "vllm", "pipeline_parallel": 1, "expert_parallel": 8},
                    "none": {"device": "h200", "gpus": 7, "stack": "sglang"}})");
    const sim::Model target = treeline::testing::model("deepseek-v3");
    CHECK(read_platforms(input.root.object("all"), input.descriptions, target).size() == 19);
    CHECK(read_platforms(input.root.object("some"), input.descriptions, target).size() == 4);
    CHECK(input.document.problems().empty());
    CHECK(read_platforms(input.root.object("none"), input.descriptions, target).empty());
    REQUIRE(input.document.problems().size() == 1);
    CHECK_THAT(input.document.problems().front(), Catch::StartsWith("in: none.gpus: is 7: no cut that sglang-") &&
                                                      Catch::EndsWith(" offers shares deepseek-v3 among so many h200"));
}

TEST_CASE("linear layers of attention, experts and the LM head each in a format of their own") {
    const sim::Precision published = treeline::testing::model("deepseek-v3").precision;
    Input input(R"({"p": {"experts": {"format": "fp4", "group_size": 16, "scale_bits": 8}, "attention": "bf16",
                          "lm_head": {"format": "int8", "group_size": 16, "scale_bits": 9, "bits": 6}}})");
    const sim::Precision precision = read_precision(input.root, "p", published);
    CHECK(input.problems().empty());
    CHECK(sim::weight_format(precision, "sparse: output projection", precision.weights).storage ==
          sim::Storage{sim::NumberFormat::bf16});
    CHECK(sim::weight_format(precision, "sparse: output projection", precision.weights).math == sim::NumberFormat::bf16);
    CHECK(sim::weight_format(precision, "dense: down projection", precision.weights).storage == published.weights);
    CHECK(sim::weight_format(precision, "sparse: routed experts", precision.experts).storage.per_element().value() ==
          4.5 / 8.0);
    CHECK(sim::weight_format(precision, "output: LM head", precision.embeddings).storage.per_element().value() == 6.5625 / 8.0);
    for (const auto& [word, bits] : {std::pair{"fp8-block", 8.0 + 32.0 / 16384.0}, {"w4a16", 4.125}, {"q4_k_m", 4.5}}) {
        Input named("{\"p\": \"" + std::string(word) + "\"}");
        CHECK(read_precision(named.root, "p", published).weights.per_element().value() == bits / 8.0);
        CHECK(named.problems().empty());
    }
}

TEST_CASE("integers of any width are a format of a part") {
    const sim::Precision published = treeline::testing::model("llama-3.1-8b").precision;
    for (const auto& [format, bits] : {std::pair{R"({"format": "int3"})", 3.0},
                                       {R"({"format": "int7"})", 7.0},
                                       {R"({"format": "int5", "group_size": 64})", 5.25},
                                       {R"({"format": "int3", "bits": 2.5})", 2.5},
                                       {R"({"format": "q4_k"})", 4.5},
                                       {R"("int6")", 6.0}}) {
        INFO(format);
        Input input(std::string(R"({"p": {"weights": )") + format + "}}");
        CHECK(read_precision(input.root, "p", published).weights.per_element().value() == bits / 8.0);
        CHECK(input.problems().empty());
    }
    Input odd(R"({"p": {"weights": {"format": "int33"}}})");
    static_cast<void>(read_precision(odd.root, "p", published));
    CHECK_FALSE(odd.problems().empty());
}

TEST_CASE("what people call a quantised checkpoint is a precision, whatever its letters") {
    const sim::Precision published = treeline::testing::model("qwen3.5-27b").precision;
    const auto bits = [&](const std::string& word) {
        Input named("{\"p\": \"" + word + "\"}");
        const sim::Precision precision = read_precision(named.root, "p", published);
        CHECK(named.problems().empty());
        return 8.0 * precision.weights.per_element().value();
    };
    CHECK(bits("Q5_K_M") == 5.5);  // block_q5_K: 176 bytes for 256
    CHECK(bits("UD-Q4_K_XL") == 4.5);
    CHECK(bits("Q4_K_XL") == bits("UD-Q4_K_XL"));
    CHECK(bits("UD-Q5_K_M") == bits("q5_k_m"));
    CHECK(bits("some-27B-UD-Q4_K_XL.gguf") == bits("UD-Q4_K_XL"));
    CHECK(bits("q4_0_r8") == bits("q4_0"));
    CHECK(bits("nf4") == 4.125);
    CHECK(bits("IQ4_KSS") == 4.0);
    CHECK(bits("some-355B-IQ2_KL-00001-of-00004.gguf") == 2.6875);
    CHECK(bits("IQ4_K_R4") == 4.5);
    CHECK(bits("Q6_K_L") == bits("Q6_K"));
    CHECK(bits("awq") == bits("w4a16"));
    CHECK(bits("W8A8") == bits("int8"));
    CHECK(bits("fp8_dynamic") == 8.0);
    CHECK(bits("mxfp8") == 8.25);
    CHECK(bits("IQ4_XS") == 4.25);
    CHECK(bits("6-bit") == 6.5);  // and a 16-bit scale and offset for 64
    CHECK(bits("mlx-3bit-g32") == 4.0);
    CHECK(bits("exl3-4.05bpw") == Approx(4.05));
    CHECK(bits("4.05bpw") == Approx(4.05));
    for (const char* wrong : {"q5_k_n", "7bit", "0.5bpw", "bpw", "mlx-"}) {
        Input named("{\"p\": \"" + std::string(wrong) + "\"}");
        static_cast<void>(read_precision(named.root, "p", published));
        CHECK_FALSE(named.problems().empty());
    }
    Input parts(R"({"p": {"weights": "q6_k", "experts": "iq3_s", "kv_cache": "q8_0"}})");
    const sim::Precision mixed = read_precision(parts.root, "p", published);
    CHECK(mixed.weights.per_element().value() == 6.5625 / 8.0);
    CHECK(mixed.experts.per_element().value() == 3.4375 / 8.0);
    CHECK(mixed.kv_cache.per_element().value() == 8.5 / 8.0);
    CHECK(parts.problems().empty());
}

TEST_CASE("a target may have experts or layers on the host, and the platform says which") {
    Input input(R"({"target": {"model": "qwen3-30b-a3b", "placement": {"experts": "host", "layers": 38}},
                    "platform": {"device": "rtx-3060", "stack": "llama.cpp", "host": "desktop-ddr4"}})");
    const sweeps::TargetChoice target = read_target(input.root.object("target"), input.descriptions);
    const sim::Platform platform = read_platform(input.root.object("platform"), input.descriptions);
    CHECK(input.problems().empty());
    CHECK(sim::layers_on_host(target.model) == 38);
    CHECK(target.label.find("experts of 38 layers on the host") != std::string::npos);
    REQUIRE(platform.host != nullptr);
    CHECK(platform.host->device.bandwidth.value() == 51.2e9);
    const auto problem = [](const std::string& target_text, const std::string& platform_text) {
        Input wrong("{\"target\": " + target_text + ", \"platform\": " + platform_text + "}");
        static_cast<void>(read_target(wrong.root.object("target"), wrong.descriptions));
        static_cast<void>(read_platform(wrong.root.object("platform"), wrong.descriptions));
        return wrong.problems();
    };
    const std::string card = R"({"device": "rtx-3060", "stack": "llama.cpp"})";
    CHECK(problem(R"({"model": "qwen3-8b", "placement": {"experts": "host"}})", card).find("has none") != std::string::npos);
    CHECK(problem(R"({"model": "qwen3-8b", "placement": {"layers": 3}})", card).find("names nothing") != std::string::npos);
    CHECK(problem(R"({"model": "qwen3-8b", "placement": {"weights": "host", "gpu_layers": 20}})", card).empty());
    CHECK(problem(R"({"model": "qwen3-8b", "placement": {"weights": "host", "layers": 36}})", card).empty());
    CHECK(problem(R"({"model": "qwen3-8b", "placement": {"weights": "host", "layers": 37}})", card)
              .find("is 37, but qwen3-8b has 36 layers") != std::string::npos);
    CHECK(problem(R"({"model": "qwen3-8b", "placement": {"weights": "host"}})",
                  R"({"device": "rtx-3060", "stack": "llama.cpp", "host": "rtx-3090"})")
              .find("is no CPU") != std::string::npos);
}

TEST_CASE("--placement says in a word what lies on the host") {
    CHECK(placement_of_flag("experts") == FlagJson{{"experts", "host"}});
    CHECK(placement_of_flag("experts:38") == FlagJson{{"experts", "host"}, {"layers", 38}});
    CHECK(placement_of_flag("gpu-layers:20") == FlagJson{{"weights", "host"}, {"gpu_layers", 20}});
    CHECK_THROWS_AS(placement_of_flag("cpu"), text::InputError);
}

TEST_CASE("a target may be named as it is published, with its format") {
    // Hugging Face has Qwen3.6-27B under this name in fp8.
    Input fp8(R"({"t": {"model": "Qwen/Qwen3.6-27B-FP8"}})");
    const sweeps::TargetChoice named = read_target(fp8.root.object("t"), fp8.descriptions);
    CHECK(fp8.problems().empty());
    CHECK(named.label == "qwen3.6-27b (fp8)");
    CHECK(named.model.repository == "Qwen/Qwen3.6-27B-FP8");
    Input apart(R"({"t": {"model": "qwen3.6-27b", "precision": "fp8"}})");
    CHECK(read_target(apart.root.object("t"), apart.descriptions).precision == named.precision);
    Input cache(R"({"t": {"model": "qwen3.6-27b-fp8", "precision": {"kv_cache": "fp8"}}})");
    const sweeps::TargetChoice cached = read_target(cache.root.object("t"), cache.descriptions);
    CHECK(cache.problems().empty());
    CHECK(cached.precision.weights == named.precision.weights);
    CHECK(cached.precision.kv_cache.format == sim::NumberFormat::fp8);
    Input other(R"({"t": {"model": "qwen3.6-27b-fp8", "precision": "int4"}})");
    static_cast<void>(read_target(other.root.object("t"), other.descriptions));
    CHECK(other.problems().find("is int4, but qwen3.6-27b-fp8 is in fp8 by its name") != std::string::npos);
}

}  // namespace setup_reader_test
