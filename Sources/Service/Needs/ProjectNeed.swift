import Core

/// Something that a project needs from a person.
package struct ProjectNeed: Hashable, Sendable {
    /// The stable code that programs compare.
    package let code: String
    /// Whether something does not work because of it; otherwise it may be intended.
    package let isWrong: Bool
    package let sentence: String
    /// What to do about it, in words.
    package let remedy: String
    /// The commands that do it, as a shell takes them; empty where only a person can.
    package let commands: [String]
}

/// A look at one thing that a project may lack.
package struct ProjectCheck: Sendable {
    package let code: String
    /// What it looks at.
    package let subject: String
    package let isWrong: Bool
    let find: @Sendable (ProjectSight) -> [Finding]

    /// One place where something is lacking.
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

/// What the checks of a project look at.
package struct ProjectSight: Sendable {
    let project: ProjectID
    let state: ProjectState
    let credentials: [AppKey: CredentialsStatus]
    /// The apps about which a store has ever sent a notification.
    let heard: Set<AppKey>
    /// Products that were bought and that no catalog knew then.
    let bought: Set<ProductKey>
    /// The flag of each store's apps on the command line.
    let flags: [Store: String]
    let now: Instant
    /// Whether a test moves the clock: then nothing is ever late.
    let isForTests: Bool

    /// The flag of the project, unless it is the usual one.
    var projectFlag: String { project.text == "default" ? "" : " --project \(project)" }

    /// The flags that name an app.
    func flags(of app: AppKey) -> String {
        "--\(flags[app.store] ?? "app") \(app.id)\(projectFlag)"
    }
}
