import Commands
import Foundation
import Machine

/// The `deed` service on a machine with systemd.
struct SetupService {
    private static let folders = [
        "/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system",
        "/usr/local/lib/systemd/system",
    ]

    /// Finds the service; `nil` if systemd is not running, or lacks the service or its user.
    init?(_ place: SetupPlace) {
        guard place.isOfMachine, fileExists("/run/systemd/system"),
            ServiceUser(named: "deed") != nil,
            SetupService.folders.contains(where: { fileExists("\($0)/deed.service") })
        else { return nil }
    }

    func step(isChanged: Bool) -> SetupStep {
        let isActive = ask("is-active", "--quiet", "deed.service")
        let isEnabled = ask("is-enabled", "--quiet", "deed.service")
        if isActive, isEnabled, !isChanged {
            return .isThere("service", "deed.service is running, and starts at boot")
        }
        let words = isActive ? "restart deed.service" : "start deed.service"
        return SetupStep(name: "service", text: "\(words), and make it start with the machine") {
            () throws(CommandEnd) in
            for words in [["enable", "deed.service"], ["restart", "deed.service"]]
            where !ask(words) {
                throw .fault(
                    "systemctl \(words.joined(separator: " ")) failed; see: journalctl -u deed"
                )
            }
        }
    }

    private func ask(_ words: String...) -> Bool { ask(words) }

    private func ask(_ words: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["systemctl"] + words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
