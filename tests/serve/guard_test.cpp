// Whom the server answers: browsers of people whose pages somebody else wrote are not among them.
#include <catch2/catch.hpp>

#include "serve/guard.h"

namespace guard_test {

using namespace treeline::serve;

namespace {

RequestHead question() { return {"POST", "/v1/estimate", "127.0.0.1:8080", "", "", "application/json", ""}; }

int status(const RequestHead& head, const Rules& rules = {}) {
    const std::optional<Refusal> refused = refusal(head, rules);
    return refused ? refused->status : 200;
}

RequestHead with(std::string RequestHead::*member, const std::string& value) {
    RequestHead head = question();
    head.*member = value;
    return head;
}

}  // namespace

TEST_CASE("a host is an address, localhost or a name that was told") {
    for (const char* host :
         {"127.0.0.1", "127.0.0.1:1", "10.1.2.3:8080", "localhost", "LocalHost:80", "[::1]", "[fe80::1]:80"}) {
        INFO(host);
        CHECK(status(with(&RequestHead::host, host)) == 200);
    }
    for (const char* host :
         {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "a.b.c.d", "[::1].x", "[::1"}) {
        INFO(host);
        CHECK(status(with(&RequestHead::host, host)) == 403);
    }
    CHECK(status(with(&RequestHead::host, "Planner.example:80"), {{"planner.example"}, ""}) == 200);
}

TEST_CASE("a request names one host, and its length once or always alike") {  // RFC 9112, 3.2 and 6.3
    CHECK_FALSE(framing_refusal({"localhost"}, {}));
    CHECK_FALSE(framing_refusal({"localhost"}, {"5"}));
    CHECK_FALSE(framing_refusal({"localhost"}, {"5", "5"}));
    for (const std::vector<std::string>& hosts : {std::vector<std::string>{}, {""}, {"localhost", "localhost"}}) {
        REQUIRE(framing_refusal(hosts, {}));
        CHECK(framing_refusal(hosts, {})->status == 400);
    }
    for (const std::vector<std::string>& lengths :
         {std::vector<std::string>{"5", "6"}, {"5, 6"}, {"5, 5"}, {"-1"}, {"+5"}, {"5x"}, {""}}) {
        REQUIRE(framing_refusal({"localhost"}, lengths));
        CHECK(framing_refusal({"localhost"}, lengths)->status == 400);
    }
}

TEST_CASE("a page asks its own server alone") {
    CHECK(status(with(&RequestHead::origin, "http://127.0.0.1:8080")) == 200);
    CHECK(status(with(&RequestHead::origin, "https://127.0.0.1:8080")) == 200);
    for (const char* origin : {"http://127.0.0.1", "http://127.0.0.1:8081", "http://evil.example", "null"}) {
        INFO(origin);
        CHECK(status(with(&RequestHead::origin, origin)) == 403);
    }
}

TEST_CASE("questions need the token where there is one; the page and its description do not") {
    const Rules rules{{}, "correct-horse-battery"};
    CHECK(status(question(), rules) == 401);
    for (const char* wrong :
         {"correct-horse-battery", "Bearer", "Bearer correct-horse-batter", "Bearer correct-horse-battery2"}) {
        INFO(wrong);
        CHECK(status(with(&RequestHead::authorization, wrong), rules) == 401);
    }
    CHECK(status(with(&RequestHead::authorization, "Bearer correct-horse-battery"), rules) == 200);
    for (const char* open : {"/", "/healthz", "/v1/openapi.json"}) {
        RequestHead head = with(&RequestHead::path, open);
        head.method = "GET";
        CHECK(status(head, rules) == 200);
    }
}

TEST_CASE("a body is plain JSON") {
    CHECK(status(with(&RequestHead::content_type, "Application/JSON ; charset=utf-8")) == 200);
    for (const char* type : {"", "text/plain", "application/json2", "multipart/form-data"}) {
        INFO(type);
        CHECK(status(with(&RequestHead::content_type, type)) == 415);
    }
    CHECK(status(with(&RequestHead::content_encoding, "gzip")) == 415);
}

TEST_CASE("addresses of this machine alone") {
    CHECK(is_loopback("127.0.0.1"));
    CHECK(is_loopback("127.8.0.1"));
    CHECK(is_loopback("::1"));
    CHECK(is_loopback("localhost"));
    CHECK_FALSE(is_loopback("0.0.0.0"));
    CHECK_FALSE(is_loopback("::"));
    CHECK_FALSE(is_loopback("127.evil.example"));
    CHECK_FALSE(is_loopback("192.168.0.1"));
}

}  // namespace guard_test
