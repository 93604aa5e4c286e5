import Foundation

/// Returns the seed of a random test, from `DEED_SEED` or new, and prints it.
package func printedSeed(of name: String) -> UInt64 {
    let given = ProcessInfo.processInfo.environment["DEED_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("seed of \(name): \(seed)")
    return seed
}

/// Returns a count from an environment variable, or the given one.
package func givenCount(_ name: String, or count: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? count
}
