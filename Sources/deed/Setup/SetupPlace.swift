import Assembly
import Commands
import Core
import Foundation
import Glibc

/// The places where an installation keeps its data and settings, and the current settings.
struct SetupPlace {
    private static let machineSettings = "/etc/deed/environment"
    private static let machineData = "/var/lib/deed"

    let dataFolder: String
    let settings: SettingsFile
    /// Whether this is the machine-wide installation, which the service manager may start.
    let isOfMachine: Bool

    init(_ invocation: Invocation) throws(CommandEnd) {
        let wanted = try absolutePath(
            invocation["data-dir"] ?? Settings.defaultDataFolder, named: "--data-dir")
        isOfMachine = getuid() == 0 && wanted == SetupPlace.machineData
        let path = isOfMachine ? SetupPlace.machineSettings : "\(wanted)/environment"
        settings = try SettingsFile(path)
        let written = invocation.isWritten("data-dir") ? nil : settings["DEED_DATA_DIR"]
        dataFolder = isOfMachine ? written ?? wanted : wanted
    }

    var usualKeys: String { "\(dataFolder)/keys" }
}

/// Returns the absolute path. Throws if the path is empty or contains a control character.
func absolutePath(_ path: String, named name: String) throws(CommandEnd) -> String {
    if path.isEmpty || path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
        throw .usage("\(name) takes the path of a folder")
    }
    return absolutePath(path)
}
