//! Who asks, and what he may do.

use std::sync::{Arc, LazyLock};

use engine::{Access, Actor, Claim, Grant, KeyRecord, Role, SandboxId, SandboxPath, Scope};
use http::Method;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// His key, or the server's token; none at an open server.
    pub(crate) actor: Option<Actor>,
    /// What he may do.
    pub(crate) grant: Arc<Grant>,
    /// The one thing that he may do, if he came by a signed address.
    pub(crate) claim: Option<Arc<Claim>>,
}

impl Caller {
    /// Whoever has the server's own token, and everyone at an open server.
    pub(crate) fn owner(actor: Option<Actor>) -> Self {
        static EVERYTHING: LazyLock<Arc<Grant>> = LazyLock::new(|| Arc::new(Grant::everything()));
        Self { actor, grant: Arc::clone(&EVERYTHING), claim: None }
    }

    /// Whoever has a key.
    pub(crate) fn with_key(record: &KeyRecord) -> Self {
        let grant = Arc::new(record.grant.clone());
        Self { actor: Some(Actor::Key(record.id)), grant, claim: None }
    }

    /// Whoever has an address that somebody signed who has this grant. None if the signer himself
    /// may not do any more what it claims.
    pub(crate) fn with_claim(claim: Claim, signer: &Grant) -> Option<Self> {
        let needed = if reads(claim.access) { Role::Viewer } else { Role::Developer };
        let beneath = signer.prefix.as_ref().is_none_or(|prefix| claim.path.starts_with(prefix));
        if signer.role < needed || !signer.may_see(&claim.sandbox) || !beneath {
            return None;
        }
        // No link at the signed path leads to anything else.
        let prefix = Some(claim.path.clone());
        let grant = Grant {
            role: needed,
            scope: Scope::Only([claim.sandbox.clone()].into()),
            prefix: prefix.filter(|prefix| !prefix.is_root()),
            expires: Some(claim.expires),
        };
        let actor = Some(claim.by);
        Some(Self { actor, grant: Arc::new(grant), claim: Some(Arc::new(claim)) })
    }

    pub(crate) fn role(&self) -> Role {
        self.grant.role
    }

    pub(crate) fn may_see(&self, id: &SandboxId) -> bool {
        self.grant.may_see(id)
    }

    /// Whether he may see sandboxes that nobody named to him.
    pub(crate) fn sees_all(&self) -> bool {
        self.grant.scope == Scope::All
    }

    /// Beneath which he must stay.
    pub(crate) fn prefix(&self) -> Option<&SandboxPath> {
        self.grant.prefix.as_ref()
    }

    /// The one sandbox that he may see, if it is just one. Faces that name no sandbox mean it.
    pub(crate) fn only_sandbox(&self) -> Option<&SandboxId> {
        match &self.grant.scope {
            Scope::All => None,
            Scope::Only(ids) => ids.first().filter(|_| ids.len() == 1),
        }
    }
}

/// Whether a signed address lets a request of this method through.
pub(crate) fn claim_allows(access: Access, method: &Method) -> bool {
    match *method {
        Method::GET | Method::HEAD => reads(access),
        Method::PUT | Method::PATCH => !reads(access),
        _ => false,
    }
}

fn reads(access: Access) -> bool {
    match access {
        Access::ReadFile | Access::ReadDirectory => true,
        Access::WriteFile | Access::WriteDirectory => false,
    }
}
