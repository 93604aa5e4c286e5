import Foundation
import Glibc

/// What the settings' flags and variables say.
struct Settings: Sendable {
    let databaseURL: String?
    let dataFolder: String

    init(_ invocation: Invocation) {
        databaseURL = invocation["database-url"]
        dataFolder = invocation["data-dir"] ?? Settings.defaultDataFolder
    }

    /// Root's folder is where services keep their data; anyone else's is in their home.
    static var defaultDataFolder: String {
        if getuid() == 0 { return "/var/lib/deed" }
        let variables = ProcessInfo.processInfo.environment
        if let data = variables["XDG_DATA_HOME"], !data.isEmpty { return "\(data)/deed" }
        return "\(variables["HOME"] ?? ".")/.local/share/deed"
    }
}
