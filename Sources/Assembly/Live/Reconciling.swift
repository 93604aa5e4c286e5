import Core
package import Ledger
package import Service
import Threading

extension ReconcilePort {
    /// The work of one reconciliation, over a connection that ends with the port.
    package init(
        _ wish: ReconcileWish, _ ledger: Ledger, _ walk: UnlistedWalk = UnlistedWalk()
    ) {
        let reconciler = Reconciler(
            ledger, wish.project, wish.plan, isRehearsal: wish.isRehearsal, walk: walk)
        self.init(
            begin: { () throws(Fault) in try reconciler.begin() },
            holds: { () throws(Fault) in try reconciler.holds() },
            done: { id throws(Fault) in try reconciler.done(of: id) },
            note: { part, counts, id throws(Fault) in try reconciler.note(part, counts, of: id) },
            forget: { () throws(Fault) in try reconciler.forget() },
            reconcile: { parts, id in reconciler.reconcile(parts, of: id) },
            inquiries: InquiryPort(ledger), monotonicClock: monotonicMilliseconds)
    }
}

extension InquiryPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            due: { project, apps, instant, last, limit throws(Fault) in
                try ledger.dueInquiries(of: project, apps, by: instant, after: last, limit: limit)
            },
            appendAll: { ledger.appendAll($0) },
            rehearse: { command throws(CommandError) in try ledger.rehearse(command) },
            pause: { Threading.pause(milliseconds: $0) }, marks: StoreMarksPort(ledger),
            histories: HistoryQuestionsPort(ledger))
    }
}

extension HistoryQuestionsPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            round: { app throws(Fault) in try ledger.historyRound(of: app) },
            keepRound: { round, app throws(Fault) in try ledger.keep(round, of: app) },
            fill: { app, environment, obstacle throws(Fault) in
                try ledger.fillHistoryQuestions(of: app, in: environment, because: obstacle)
            },
            count: { app, isFilled throws(Fault) in
                try isFilled
                    ? ledger.countHistoryCustomers(of: app)
                    : ledger.countHistoryQuestions(of: app)
            },
            next: { app, last, limit throws(Fault) in
                try ledger.historyQuestions(of: app, after: last, limit: limit)
            },
            keep: { question throws(Fault) in try ledger.keep(question) },
            end: { purchase throws(Fault) in try ledger.endHistoryQuestion(of: purchase) })
    }
}

extension StoreMarksPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            history: { purchase throws(Fault) in try ledger.historyMark(of: purchase) },
            keepHistory: { mark, purchase throws(Fault) in try ledger.keep(mark, of: purchase) },
            notifications: { app, environment throws(Fault) in
                try ledger.notificationMark(of: app, in: environment)
            },
            keepNotifications: { app, environment, instant throws(Fault) in
                try ledger.markNotifications(of: app, in: environment, until: instant)
            })
    }
}
