//! A sandbox to call tools in, of every kind.

use std::sync::{Arc, LazyLock};

use engine::{
    Audit, AuditEvent, AuditLog, DotDot, Durability, FileSystem, HostFs, HostOptions, Limits,
    Mounts, Recorder, Retention, Role, Sandbox, SandboxId, SandboxPath, Store, Workspace,
};
use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::{Call, Settings, TOOLS, ToolResult, named};

/// A sandbox, and what a server would hold for it.
pub(crate) struct Bench {
    pub(crate) files: Arc<dyn FileSystem>,
    pub(crate) settings: Settings,
    pub(crate) role: Role,
    pub(crate) audit: Audit,
    pub(crate) dir: Option<TempDir>,
    pub(crate) home: SandboxPath,
    pub(crate) prefix: SandboxPath,
}

impl Bench {
    /// A virtual tree, which keeps snapshots and takes batches.
    pub(crate) async fn stored() -> Self {
        let id = SandboxId::parse("demo").unwrap();
        let tree = Store::in_memory().create(&id, Limits::default()).await.unwrap();
        Self::over(Arc::new(tree), None)
    }

    /// A real directory.
    pub(crate) fn host() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = HostOptions {
            limits: Limits::default(),
            durability: Durability::Relaxed,
            mounts: Mounts::Cross,
            staging: Vec::new(),
        };
        let tree = HostFs::open(dir.path(), options).unwrap();
        Self::over(Arc::new(tree), Some(dir))
    }

    /// One of each.
    pub(crate) async fn each() -> [Self; 2] {
        [Self::stored().await, Self::host()]
    }

    fn over(files: Arc<dyn FileSystem>, dir: Option<TempDir>) -> Self {
        Self {
            files,
            settings: Settings::for_programs(),
            role: Role::Owner,
            audit: Audit::new(Some(&Store::in_memory()), None, Retention::default()),
            dir,
            home: SandboxPath::root(),
            prefix: SandboxPath::root(),
        }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let sandbox = Sandbox {
            id: SandboxId::parse("demo").unwrap(),
            files: Arc::clone(&self.files),
            prefix: self.prefix.clone(),
            home: self.home.clone(),
            is_system: false,
        };
        let recorder = Recorder::new(self.audit.clone(), None, None);
        Workspace::new(Arc::new(sandbox), self.role, None).recorded(recorder)
    }

    pub(crate) fn allow(mut self, paths: &[&str]) -> Self {
        self.settings.allowed_paths = paths.iter().map(|path| at(path)).collect();
        self
    }

    pub(crate) fn block(mut self, paths: &[&str]) -> Self {
        self.settings.blocked_paths = paths.iter().map(|path| at(path)).collect();
        self
    }

    /// The same tree without limits: whoever prepares it.
    pub(crate) fn unlimited(&self) -> Call {
        Call::new(self.workspace(), Settings::for_programs())
    }

    pub(crate) fn call(&self) -> Call {
        Call::new(self.workspace(), self.settings.clone())
    }

    /// Calls a tool. Whatever comes back fits the schema that it announced.
    pub(crate) async fn run(&self, tool: &str, arguments: Value) -> ToolResult {
        checked(tool, self.call().run(named(tool).unwrap(), arguments).await)
    }

    /// The data of a call that must succeed.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        let result = self.run(tool, arguments).await;
        assert!(result.success, "{tool} {shown}: {:?}", result.error);
        result.data.unwrap()
    }

    /// The result of a call that must fail, and the kind of failure.
    pub(crate) async fn err(&self, tool: &str, arguments: Value) -> (String, ToolResult) {
        let shown = arguments.to_string();
        let result = self.run(tool, arguments).await;
        assert!(!result.success, "{tool} {shown}: {:?}", result.data);
        (result.metadata.kind.clone().unwrap(), result)
    }

    /// Puts files in place, whatever the limits.
    pub(crate) async fn put(&self, files: &[(&str, &str)]) {
        for (path, content) in files {
            let arguments = json!({ "path": path, "content": content });
            let result = self.unlimited().run(named("write_file").unwrap(), arguments).await;
            assert!(result.success, "{:?}", result.error);
        }
    }

    pub(crate) async fn put_bytes(&self, path: &str, bytes: &[u8]) {
        use engine::{If, Parents, WriteMode, WriteOptions};
        use futures::StreamExt as _;
        let body = bytes::Bytes::copy_from_slice(bytes);
        let body = futures::stream::once(async { Ok(body) }).boxed();
        let options = WriteOptions {
            mode: WriteMode::Replace,
            parents: Parents::Create,
            expected: If::Always,
            length: None,
        };
        self.files.write(&at(path), body, options).await.unwrap();
    }

    pub(crate) async fn bytes(&self, path: &str) -> Vec<u8> {
        use futures::TryStreamExt as _;
        let content = self.files.read(&at(path), engine::Span::Whole).await.unwrap();
        let chunks: Vec<bytes::Bytes> = content.body.try_collect().await.unwrap();
        chunks.concat()
    }

    pub(crate) async fn link(&self, link: &str, target: &str) {
        self.files.symlink(&at(link), target).await.unwrap();
    }

    /// What was written down.
    pub(crate) async fn events(&self) -> Vec<AuditEvent> {
        let log = AuditLog::Sandbox(SandboxId::parse("demo").unwrap());
        self.audit.events(&log, None, 1000).await.unwrap().events
    }
}

pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}

/// The names of listed entries.
pub(crate) fn names(data: &Value) -> Vec<&str> {
    data["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

fn checked(tool: &str, result: ToolResult) -> ToolResult {
    static SCHEMAS: LazyLock<Vec<(&str, Validator)>> = LazyLock::new(|| {
        let validator = |schema| jsonschema::validator_for(&Value::Object(schema)).unwrap();
        TOOLS.iter().map(|tool| (tool.name, validator(tool.output_schema().clone()))).collect()
    });
    let (_, schema) = SCHEMAS.iter().find(|(name, _)| *name == tool).unwrap();
    let value = serde_json::to_value(&result).unwrap();
    if let Err(err) = schema.validate(&value) {
        panic!("{tool}: {err}: {value:#}");
    }
    let fields: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["success", "data", "error", "metadata"]);
    assert_eq!(result.success, result.error.is_none());
    assert_eq!(result.success, result.data.is_some());
    assert_eq!(result.metadata.tool, tool);
    result
}
