package import Core
import Synchronization
import Wording

/// The answer of an app's store to a question about an order number.
package struct StoreTold: Sendable {
    package enum Outcome: Sendable {
        /// The store knows the number. The results come from recording the transactions in its answer.
        case known(Environment, [IntakeResult])
        case unknown(Environment)
        /// The store was not asked, or did not answer.
        case untold(code: String, sentence: String)
    }
    package let app: AppID
    package let outcome: Outcome
}

/// Asks the stores about the order number in a receipt email, and records their answers.
package final class OrderNumbers: Sendable {
    /// The maximum number of concurrent searches. Each occupies a worker while it waits for a store.
    private static let limit = 2
    /// The time limit, in milliseconds, for asking the stores of all apps one after another.
    private static let patience: Int64 = 25_000

    private let submissions: Submissions
    private let finds: Finds
    private let running = Mutex(0)

    package init(_ submissions: Submissions, finds: Finds) {
        self.submissions = submissions
        self.finds = finds
    }

    /// Returns the matches from each app's store, followed by the matches in the database. If no environment is given,
    /// searches both in the database and, at the store, the one that has order numbers.
    package func find(
        _ words: FindWords, of project: ProjectID, in environment: Environment?, limit: Int
    ) throws(CommandError) -> FindAnswer {
        let isFree = running.withLock { running in
            if running >= OrderNumbers.limit { return false }
            running += 1
            return true
        }
        if !isFree { throw .fault(.busy) }
        defer { running.withLock { $0 -= 1 } }
        let told = try ask(words.text, of: project, in: environment)
        var matches: [FoundMatch] = []
        for case .known(let environment, let results) in told.map(\.outcome) {
            let purchases = results.compactMap { $0.purchase.flatMap(PurchaseID.init) }
            matches += try finds.matches(
                of: purchases.inOrderOnce, under: words.text, in: project, environment)
        }
        return try finds.find(words, of: project, in: environment, limit: limit)
            .behind(matches, told: told, limit: limit)
    }

    private func ask(
        _ number: String, of project: ProjectID, in environment: Environment?
    ) throws(CommandError) -> [StoreTold] {
        let intake = submissions.intake
        let apps = try intake.ledger.existing(project).apps.map(\.key)
        let questions = StoreQuestions(submissions)
        let end = intake.machineClock().advanced(byMilliseconds: OrderNumbers.patience)
        var told: [StoreTold] = []
        for app in apps {
            if intake.machineClock() >= end {
                told.append(
                    StoreTold(
                        app: app.id,
                        outcome: .untold(
                            code: StoreTrouble.unavailable("").code,
                            sentence:
                                "This store was not asked, because the others took too long. Try again."
                        )))
                continue
            }
            told.append(
                StoreTold(
                    app: app.id,
                    outcome: try outcome(of: number, app, project, environment, questions)))
        }
        return told
    }

    private func outcome(
        of number: String, _ app: AppKey, _ project: ProjectID, _ environment: Environment?,
        _ questions: StoreQuestions
    ) throws(CommandError) -> StoreTold.Outcome {
        do throws(StoreQuestionError) {
            let report = try questions.ask(
                .order(number), about: app, of: project, in: environment)
            let results = report.items.compactMap { item in
                if case .purchase(let result) = item { result } else { nil }
            }
            if case .order(isFound: false) = report.remark { return .unknown(report.environment) }
            return .known(report.environment, results)
        } catch {
            switch error {
            case .command(let error): throw error
            case .trouble(.fault(let fault)): throw .fault(fault)
            case .trouble(let trouble):
                return .untold(code: trouble.code, sentence: trouble.withRemedy)
            }
        }
    }
}

extension [PurchaseID] {
    fileprivate var inOrderOnce: [PurchaseID] {
        reduce(into: []) { known, one in if !known.contains(one) { known.append(one) } }
    }
}
