import Core

/// Something that a project needs from a person.
package struct ProjectNeed: Hashable, Sendable {
    /// A stable code for programs.
    package let code: String
    /// Whether it makes something fail. Otherwise it may be intended.
    package let isWrong: Bool
    package let sentence: String
    /// What to do, in words.
    package let remedy: String
    /// Shell commands that do it; empty if only a person can do it.
    package let commands: [String]
}

/// A check for one thing that a project may lack.
package struct ProjectCheck: Sendable {
    package let code: String
    /// The subject of the check.
    package let subject: String
    package let isWrong: Bool
    let find: @Sendable (ProjectSight) -> [Finding]

    /// One place where something is missing.
    struct Finding {
        let sentence: String
        let remedy: String
        var commands: [String] = []
    }

    init(
        _ code: String, _ subject: String, isWrong: Bool = false,
        find: @escaping @Sendable (ProjectSight) -> [Finding]
    ) {
        self.code = code
        self.subject = subject
        self.isWrong = isWrong
        self.find = find
    }

    package func needs(of sight: ProjectSight) -> [ProjectNeed] {
        find(sight).map {
            ProjectNeed(
                code: code, isWrong: isWrong, sentence: $0.sentence, remedy: $0.remedy,
                commands: $0.commands)
        }
    }

    package static let all = [
        keys, catalog, credentials, notifications, productsWithoutApp, entitlements, unknown,
        sandbox, storeHere, soundness, night,
    ]
}

/// The data that a project's checks examine.
package struct ProjectSight: Sendable {
    let project: ProjectID
    let state: ProjectState
    let credentials: [AppKey: CredentialsStatus]
    /// Apps with at least one notification from a store.
    let heard: Set<AppKey>
    /// Products that were bought before a catalog knew them.
    let bought: Set<ProductKey>
    /// Each store's flag for apps on the command line.
    let flags: [Store: String]
    /// The stores that send notifications.
    let sending: Set<Store>
    let now: Instant
    /// Under a test clock, nothing is ever late.
    let isForTests: Bool

    /// The project's flag; empty for the default project.
    var projectFlag: String { project.text == "default" ? "" : " --project \(project)" }

    func flags(of app: AppKey) -> String {
        "--\(flags[app.store] ?? "app") \(app.id)\(projectFlag)"
    }
}
