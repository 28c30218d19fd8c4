#include "cli/program.h"

int main(int argc, char** argv) { return treeline::cli::run_program(argc, argv); }
