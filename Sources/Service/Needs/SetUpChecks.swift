import Core

extension ProjectCheck {
    static let keys = ProjectCheck("no_key", "keys of each project") { sight in
        if sight.state.keys.contains(where: { $0.revokedAt == nil }) { return [] }
        return [
            Finding(
                sentence: "The project \(sight.project) has no key, so nothing can call it.",
                remedy: .createKey(sight.project))
        ]
    }

    static let catalog = ProjectCheck("no_catalog", "the catalog of each project", isWrong: true) {
        sight in
        if sight.state.apps.isEmpty || !sight.state.catalog.products.isEmpty { return [] }
        return [
            Finding(
                sentence:
                    "The project \(sight.project) has an app but no products, so purchases unlock nothing.",
                remedy: .listProducts(sight.project))
        ]
    }

    static let credentials = ProjectCheck(
        "app_without_credentials", "credentials of each app"
    ) { sight in
        sight.state.apps.filter { sight.credentials[$0.key]?.hasKey != true }.map { app in
            let loss =
                sight.sending.contains(app.key.store)
                ? "missed notifications are never recovered" : "no purchase in the app counts"
            return Finding(
                sentence:
                    "The app \(app.key.id) of \(sight.project) has no key for its store, so Deed asks the store "
                    + "nothing: \(loss).",
                remedy: .createStoreKey(sight.named(app)))
        }
    }

    static let notifications = ProjectCheck(
        "app_without_notifications", "notifications about each app"
    ) { sight in
        sight.state.apps.filter {
            sight.sending.contains($0.key.store) && !sight.heard.contains($0.key)
        }.map { app in
            Finding(
                sentence:
                    "No notification about the app \(app.key.id) of \(sight.project) has arrived yet.",
                remedy: .registerNotifications(sight.named(app)))
        }
    }

    static let productsWithoutApp = ProjectCheck(
        "products_without_app", "apps of the stores in each catalog"
    ) { sight in
        let stores = Set(sight.state.catalog.products.map(\.key.store))
            .subtracting(sight.state.apps.map(\.key.store))
        return stores.sorted { $0.rawValue < $1.rawValue }.map { store in
            Finding(
                sentence:
                    "The catalog of \(sight.project) sells products in the store \(store.rawValue), but the "
                    + "project has no app in that store.",
                remedy: sight.stores.contains(store) ? .addApp(store) : .removeProducts)
        }
    }

    static let entitlements = ProjectCheck(
        "entitlement_without_source", "what gives each entitlement"
    ) { sight in
        let catalog = sight.state.catalog
        let named = Set(catalog.entitlementTitles.keys).union(catalog.endingSoon.keys)
        let given = Set(catalog.products.flatMap(\.entitlements))
            .union(catalog.originalVersionRules.flatMap(\.entitlements))
        return named.subtracting(given).sorted().map { entitlement in
            Finding(
                sentence:
                    "The catalog of \(sight.project) names the entitlement \(entitlement), but no product gives "
                    + "it.",
                remedy: .giveEntitlement)
        }
    }

    static let unknown = ProjectCheck(
        "product_unknown", "bought products in each catalog", isWrong: true
    ) { sight in
        sight.bought.filter { sight.state.catalog.product($0) == nil }.sorted().map { product in
            Finding(
                sentence:
                    "The product \(product.id) of the store \(product.store.rawValue) was bought, but the catalog "
                    + "of \(sight.project) does not contain it.",
                remedy: .addBoughtProduct(sight.project))
        }
    }
}
