import Assembly
import Commands
import Core
import Foundation
import Glibc
import PrivatePostgres

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

    /// Whether root must still give the data folder to the user who will run the service.
    var isToBeGiven: Bool {
        if getuid() != 0 || isOfMachine { return false }
        var found = stat()
        return stat(dataFolder, &found) != 0 || found.st_uid == 0
    }

    /// Gives the data folder with the settings to the user who will run the service, as a start of the service by root
    /// would. Otherwise root could be told to run settings that this user may change later.
    func give() throws(CommandEnd) {
        if !isToBeGiven { return }
        do throws(PrivatePostgresError) {
            _ = try DataFolder.give(dataFolder, wanting: nil)
        } catch {
            throw .fault(error.description)
        }
    }
}

/// Returns the absolute path. Throws if the path is empty or contains a control character.
func absolutePath(_ path: String, named name: String) throws(CommandEnd) -> String {
    if path.isEmpty || path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
        throw .usage("\(name) takes the path of a folder")
    }
    return absolutePath(path)
}
