import CFuzzer
import Foundation

if let folder = ProcessInfo.processInfo.environment["DEED_FUZZ_SEEDS"] {
    try writeSeeds(to: folder)
}
var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&count, &arguments, testOneInput))
