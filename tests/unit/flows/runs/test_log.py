import logging
import threading

from flows.runs import log as run_log


def test_warnings_of_stages_appear_in_the_log_of_the_run(monkeypatch, caplog):
    monkeypatch.setattr(run_log, "get_run_logger", lambda: logging.getLogger("the.run"))
    lost = logging.getLogger("pipeline.schedule.cluster.losses")
    with run_log.warnings_in_run_log():
        thread = threading.Thread(target=lost.warning, args=("worker %s was lost", "100%s"))
        thread.start()
        thread.join()
        lost.info("not this")
    lost.warning("of nobody's run")
    reported = [entry for entry in caplog.record_tuples if entry[0] == "the.run"]
    assert reported == [("the.run", logging.WARNING, "worker 100%s was lost")]
