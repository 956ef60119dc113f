//! Which method is answered by whom.

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, Extensions, InitializeRequestParams, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};

use super::failures::{self, cancelled};
use super::roots::{Roots, Served};
use super::standing::Standing;
use super::subscriptions::{self, Subscriptions};
use super::{completion, instructions, resources, tools};

/// Methods whose parameters the SDK reads. One of these that it does not recognise has others.
const METHODS: [&str; 9] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "completion/complete",
];

/// One client: answers what it asks, and remembers what it wants to be told.
#[derive(Debug)]
pub(crate) struct Handler {
    ground: Ground,
    roots: Roots,
    subscriptions: Subscriptions,
}

/// Where clients stand.
#[derive(Debug)]
enum Ground {
    /// In one place, for as long as they are there.
    Here(Box<Standing>),
    /// Where the gate of HTTP lets each of their requests in.
    OfRequest,
}

impl Handler {
    /// A client that stands in one place; its roots matter if a directory of its machine is served.
    pub(super) fn here(standing: Standing, served: Option<Served>) -> Self {
        Self {
            ground: Ground::Here(Box::new(standing)),
            roots: Roots::new(served),
            subscriptions: Subscriptions::default(),
        }
    }

    /// A client that comes by HTTP.
    pub(crate) fn by_request() -> Self {
        Self {
            ground: Ground::OfRequest,
            roots: Roots::new(None),
            subscriptions: Subscriptions::default(),
        }
    }

    /// Where the client stands that asks this.
    async fn standing(&self, extensions: &Extensions) -> Result<Standing, ErrorData> {
        match &self.ground {
            Ground::OfRequest => Standing::of_request(extensions),
            Ground::Here(standing) => {
                let sandbox = standing.workspace.sandbox();
                let settings = self.roots.narrow(&standing.settings, sandbox).await?;
                Ok(Standing { settings, ..Standing::clone(standing) })
            }
        }
    }

    /// What a client is told of the place before it has said anything of roots.
    fn introduced(&self, extensions: &Extensions) -> Result<ServerConfig, ErrorData> {
        let about = match &self.ground {
            Ground::OfRequest => instructions::about(&Standing::of_request(extensions)?),
            Ground::Here(standing) => instructions::about(standing),
        };
        Ok(instructions::server().with_instructions(about))
    }

    async fn ask_roots(&self, context: NotificationContext<RoleServer>) -> bool {
        match &self.ground {
            Ground::OfRequest => false,
            Ground::Here(standing) => {
                self.roots.ask(&context.peer, standing.workspace.sandbox()).await
            }
        }
    }
}

/// What comes of a request, unless it is cancelled first.
async fn unless_cancelled<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(cancelled()),
        outcome = work => outcome,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        instructions::server()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.roots.greet(&request.capabilities);
        let introduced = self.introduced(&context.extensions)?;
        let mut result = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        result.instructions = introduced.instructions;
        Ok(result)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let introduced = self.introduced(&context.extensions)?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, introduced))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        unless_cancelled(&context, async {
            Ok(tools::list(&self.standing(&context.extensions).await?).await)
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let standing = unless_cancelled(&context, self.standing(&context.extensions)).await?;
        tools::call(&standing, request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        unless_cancelled(&context, async {
            let standing = self.standing(&context.extensions).await?;
            let cursor = request.and_then(|request| request.cursor);
            let listed = resources::list(&standing, cursor.as_deref()).await;
            let listed =
                listed.map_err(|err| failures::error(&err, standing.workspace.sandbox()))?;
            // Whoever was not greeted listens for himself.
            if context.peer.peer_info().is_some() && context.meta.protocol_version().is_none() {
                self.subscriptions.has_seen_list(&standing, context.peer.clone());
            }
            Ok(listed)
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.standing(&context.extensions).await?))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        unless_cancelled(&context, async {
            let standing = self.standing(&context.extensions).await?;
            let read = resources::read(&standing, &request.uri).await;
            let read = read.map_err(|err| failures::error(&err, standing.workspace.sandbox()))?;
            Ok(read.into())
        })
        .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        unless_cancelled(&context, async {
            completion::complete(&self.standing(&context.extensions).await?, &request).await
        })
        .await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        unless_cancelled(&context, async {
            let standing = self.standing(&context.extensions).await?;
            let added = self.subscriptions.add(&standing, request.uri, context.peer.clone()).await;
            added.map_err(|err| failures::error(&err, standing.workspace.sandbox()))
        })
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(subscriptions::granted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let standing = self.standing(&context.request_context().extensions).await?;
        let heard = subscriptions::listen(&standing, &context).await;
        heard.map_err(|err| failures::error(&err, standing.workspace.sandbox()))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            let message = format!("the parameters of {method} are not what the protocol says");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method `{method}`");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.ask_roots(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        let peer = context.peer.clone();
        if self.ask_roots(context).await {
            let standing = self.standing(&Extensions::new()).await.ok();
            self.subscriptions.stay_within(standing.as_ref());
            peer.notify_resource_list_changed().await.ok();
        }
    }
}
