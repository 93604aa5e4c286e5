import Foundation
import Glibc
import TestSupport
import Testing

/// A process's use of the machine, in KiB and descriptors.
struct Footprint {
    let memory: Int64
    let mostMemory: Int64
    let addresses: Int64
    let mostAddresses: Int64
    let threads: Int64
    let descriptors: Int

    init(of process: ChildProcess) throws {
        let folder = "/proc/\(process.id)"
        let status = try String(contentsOfFile: "\(folder)/status", encoding: .utf8)
        func size(_ name: String) throws -> Int64 {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
            let words = line?.split { $0 == " " || $0 == "\t" } ?? []
            return try #require(words.count > 1 ? Int64(words[1]) : nil)
        }
        threads = try size("Threads")
        memory = try size("VmRSS")
        mostMemory = try size("VmHWM")
        addresses = try size("VmSize")
        mostAddresses = try size("VmPeak")
        // If a process protects its memory, only root can count its descriptors.
        let open = try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").count
        descriptors = getuid() == 0 ? try #require(open) : open ?? 0
    }
}
