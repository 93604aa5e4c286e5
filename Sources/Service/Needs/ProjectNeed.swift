import Core

/// A task for a person that a project depends on.
package struct ProjectNeed: Hashable, Sendable {
    /// The stable code, for comparison by programs.
    package let code: String
    /// Whether something fails until the task is done. Otherwise, the current state may be intended.
    package let isWrong: Bool
    package let sentence: String
    /// A description of what to do.
    package let remedy: String
    /// Shell commands that do the task; empty if only a person can do it.
    package let commands: [String]
}

/// A check for one thing that a project may be missing.
package struct ProjectCheck: Sendable {
    package let code: String
    /// The subject of the check.
    package let subject: String
    package let isWrong: Bool
    let find: @Sendable (ProjectSight) -> [Finding]

    /// A place in the project where something is missing.
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
    /// Apps about which at least one notification has arrived from a store.
    let heard: Set<AppKey>
    /// Products that were bought before any catalog contained them.
    let bought: Set<ProductKey>
    /// The command-line flag of each store for naming an app.
    let flags: [Store: String]
    /// The stores that send notifications.
    let sending: Set<Store>
    let now: Instant
    /// Whether there is a test clock, under which nothing is ever late.
    let isForTests: Bool

    /// The command-line flag that selects the project; empty for the default project.
    var projectFlag: String { project.text == "default" ? "" : " --project \(project)" }

    func flags(of app: AppKey) -> String {
        "--\(flags[app.store] ?? "app") \(app.id)\(projectFlag)"
    }
}
