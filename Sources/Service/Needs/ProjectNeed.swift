package import Core

/// A task for a person that a project depends on.
package struct ProjectNeed: Hashable, Sendable {
    /// The stable code, for comparison by programs.
    package let code: String
    /// Whether something fails until the task is done. If false, the current state may be intended.
    package let isWrong: Bool
    package let sentence: String
    package let remedy: ProjectRemedy
}

/// A check for something that a project may lack.
package struct ProjectCheck: Sendable {
    package let code: String
    /// The subject of the check.
    package let subject: String
    package let isWrong: Bool
    let find: @Sendable (ProjectSight) -> [Finding]

    /// A place in the project where something is missing.
    struct Finding {
        let sentence: String
        let remedy: ProjectRemedy
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
                code: code, isWrong: isWrong, sentence: $0.sentence, remedy: $0.remedy)
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
    /// Apps for which at least one notification has arrived from a store.
    let heard: Set<AppKey>
    /// Products that were bought before any catalog contained them.
    let bought: Set<ProductKey>
    /// The stores that can have apps.
    let stores: Set<Store>
    /// The stores that send notifications.
    let sending: Set<Store>
    let now: Instant
    /// Whether the database has a test clock, under which nothing is ever late.
    let isForTests: Bool

    func named(_ app: App) -> StoreApp { StoreApp(project: project, key: app.key) }
}
