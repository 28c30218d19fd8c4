// The library as a native program that answers as the module of the live page does: a line of standard input is {"kind",
// "question"}, a line of standard output the answer, both as JSON texts. The one argument is the folder for files that are
// handed over.
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "treeline/questions.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: answer_questions FOLDER <QUESTIONS\n";
        return 2;
    }
    const treeline::Catalogue catalogue = treeline::installed_catalogue();
    for (std::string line; std::getline(std::cin, line);) {
        const nlohmann::json asked = nlohmann::json::parse(line);
        const std::string answer = treeline::answer_question(asked.at("kind").get<std::string>(),
                                                             asked.at("question").get<std::string>(), catalogue, argv[1]);
        std::cout << nlohmann::json(answer).dump() << std::endl;
    }
}
