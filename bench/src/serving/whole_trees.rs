//! Whole trees: removed, and carried in and out as archives.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::arena::Arena;
use super::ask::Ask;
use super::case::{Case, Miss, Turn};
use super::connection::Connection;
use super::cores::Room;
use super::script::Expected;
use super::server::Server;
use super::table::{Family, Measure};
use super::trees::{Filling, Tree};
use super::who::{WRITERS, Who};
use super::{Bench, job, program};

pub(super) const RM: Who = Who::Program("rm -rf");
pub(super) const TAR_X: Who = Who::Program("tar -x");
/// How many files of 4 KiB fit into an archive of 2 MiB, with their headers.
const PIECE: usize = 400;

/// A tree of many files, removed.
pub(super) async fn removal(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "delete")?;
    arena.start(&WRITERS).await?;
    let files = bench.plan.choose(20_000, 100_000);
    let tree = Tree { files, each: Some(100), filling: Filling::Empty };
    let everybody: Vec<_> = WRITERS.into_iter().chain([RM]).collect();
    let mut case = Case::new(format!("delete {files} files"), &everybody).of(files as f64, "files");
    arena.forget_peaks()?;
    case.in_turns(bench.few_rounds(), async |who| {
        arena.plant_for(who, &tree, "doomed").await?;
        arena.settle()?;
        let doomed = arena.tree.join("doomed");
        let turn = if who == RM {
            program::run(bench, Command::new("rm").arg("-rf").arg(&doomed), Room::One, |_| {})?
        } else {
            let server = arena.server(who)?;
            job::once(server, &server.say(Ask::Remove("doomed"))?, &[], Expected::FINE).await?
        };
        if doomed.try_exists().map_err(anyhow::Error::from)? {
            return Err(anyhow::Error::msg("it is still there").into());
        }
        Ok(turn)
    })
    .await;
    arena.note_peaks(&mut case)?;
    Ok(Family {
        name: "delete",
        title: "Removing a tree",
        about: "Empty files, a hundred in a directory, so that no disk is busy with discarding blocks while \
                the next one is measured. A virtual tree forgets them in one step and frees their room later."
            .to_owned(),
        measure: Measure::Time,
        cases: vec![case],
    })
}

/// A tree of files as one archive, in and out.
pub(super) async fn archives(bench: &Bench<'_>) -> Result<Family> {
    const TAR_C: Who = Who::Program("tar -c, into a pipe");
    let everybody = [
        Who::Relaxed,
        Who::Host,
        Who::Memory,
        Who::Store,
        Who::Nginx,
        Who::Dufs,
        Who::SandboxAgent,
    ];
    let mut arena = Arena::new(bench, "tar")?;
    arena.start(&everybody).await?;
    let files = bench.plan.choose(5_000, 20_000);
    let tree = Tree { files, each: Some(100), filling: Filling::Noise(4096) };
    let unpackers: Vec<_> = everybody.into_iter().chain([TAR_X]).collect();
    let packers: Vec<_> = everybody.into_iter().chain([TAR_C]).collect();
    let name = |what: &str| format!("{what} {files} files as tar");
    let mut up = Case::new(name("upload"), &unpackers).of(files as f64, "files");
    unpacked(bench, &arena, &tree, &mut up).await?;
    let mut down = Case::new(name("download"), &packers).of(files as f64, "files");
    packed(bench, &arena, &tree, &mut down).await?;
    Ok(Family {
        name: "tar",
        title: "Trees as archives",
        about: format!(
            "Files of 4 KiB, a hundred in a directory. Ours unpacks aside and shows all of it at once, or \
             nothing of a broken archive; without `relaxed` it is on the disk before it is acknowledged. \
             sandbox-agent, whose bodies end at 2 MiB, gets {} archives one after the other. Tar \
             reads its archive from the page cache.",
            files.div_ceil(PIECE)
        ),
        measure: Measure::Time,
        cases: vec![up, down],
    })
}

async fn unpacked(
    bench: &Bench<'_>,
    arena: &Arena<'_>,
    tree: &Tree,
    case: &mut Case,
) -> Result<()> {
    let whole = tree.archive(0..tree.files)?;
    let pieces: Result<Vec<_>> = (0..tree.files)
        .step_by(PIECE)
        .map(|begin| tree.archive(begin..tree.files.min(begin + PIECE)))
        .collect();
    let pieces = pieces?;
    let on_disk = arena.tree.join("whole.tar");
    std::fs::write(&on_disk, &whole)?;
    arena.forget_peaks()?;
    case.in_turns(bench.few_rounds(), async |who| {
        let turn = if let Who::Program(_) = who {
            extract(bench, &on_disk, &arena.tree.join("unpacked"))?
        } else if who == Who::SandboxAgent {
            in_pieces(arena.server(who)?, &pieces).await?
        } else {
            let server = arena.server(who)?;
            let request = server.say(Ask::Unpack("unpacked", whole.len() as u64))?;
            job::once(server, &request, &whole, Expected::FINE).await?
        };
        there(arena, who, tree).await?;
        arena.clear(who, "unpacked").await?;
        Ok(turn)
    })
    .await;
    arena.note_peaks(case)
}

fn extract(bench: &Bench<'_>, archive: &Path, target: &Path) -> Result<Turn> {
    std::fs::create_dir_all(target)?;
    let mut command = Command::new("tar");
    command.arg("-x").arg("-f").arg(archive).arg("-C").arg(target);
    program::run(bench, &mut command, Room::One, |_| {})
}

async fn in_pieces(server: &Server, pieces: &[Vec<u8>]) -> Result<Turn, Miss> {
    let mut connection = Connection::open(server.address).await?;
    let sending = async {
        for piece in pieces {
            let request = server.say(Ask::Unpack("unpacked", piece.len() as u64))?;
            connection.send(&request.bytes).await?;
            connection.send(piece).await?;
            let answer = connection.receive(request.answer, |_| {}).await?;
            ensure!(Expected::FINE.fits(answer), "{answer:?}");
        }
        Ok(())
    };
    Ok(job::timed(server, sending).await?)
}

/// Whether the last file came.
async fn there(arena: &Arena<'_>, who: Who, tree: &Tree) -> Result<()> {
    let path = format!("unpacked/{}", tree.name(tree.files - 1));
    let bytes = if who.is_virtual() {
        let server = arena.server(who)?;
        server.fetch(&server.say(Ask::Read(&path))?, &[]).await?
    } else {
        std::fs::read(arena.tree.join(&path))?
    };
    ensure!(bytes == tree.content_of(tree.files - 1), "{path} is another");
    Ok(())
}

async fn packed(bench: &Bench<'_>, arena: &Arena<'_>, tree: &Tree, case: &mut Case) -> Result<()> {
    arena.plant(tree, "packed", 0..tree.files).await?;
    arena.settle()?;
    arena.forget_peaks()?;
    // Behind its header a file takes whole blocks.
    let least = (tree.files * (4096 + 512)) as u64;
    case.in_turns(bench.few_rounds(), async |who| {
        if let Who::Program(_) = who {
            let mut bytes = 0;
            let mut command = Command::new("tar");
            command.arg("-c").arg("-C").arg(arena.tree.join("packed")).arg(".");
            let turn = program::run(bench, &mut command, Room::One, |piece| bytes += piece.len())?;
            return if bytes as u64 >= least { Ok(turn) } else { Err(cut_short()) };
        }
        let server = arena.server(who)?;
        let request = server.say(Ask::Pack("packed"))?;
        let length = server.fetch(&request, &[]).await?.len() as u64;
        if length < least {
            return Err(cut_short());
        }
        let expected = Expected { status: Some(200), length: Some(length) };
        Ok(job::once(server, &request, &[], expected).await?)
    })
    .await;
    arena.note_peaks(case)
}

fn cut_short() -> Miss {
    Miss::Failed(anyhow::Error::msg("the archive is not whole"))
}
