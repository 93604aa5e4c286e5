import CBuild

package enum Build {
    package static let version = String(cString: deed_build_version())
    static let commit = String(cString: deed_build_commit())
    static let date = String(cString: deed_build_date())

    /// `0.1.0-dev`; for a release also its commit and day.
    static var text: String { commit.isEmpty ? version : "\(version) (commit \(commit), \(date))" }
}
