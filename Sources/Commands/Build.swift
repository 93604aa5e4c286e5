import CBuild

package enum Build {
    package static let version = String(cString: deed_build_version())
    static let commit = String(cString: deed_build_commit())
    static let date = String(cString: deed_build_date())

    /// The version, such as `0.1.0-dev`. A release's version also contains the commit and the date.
    static var text: String { commit.isEmpty ? version : "\(version) (commit \(commit), \(date))" }
}
