#include "cli/commands.h"

int main(int argc, char** argv) { return slipway::cli::main(argc, argv); }
