"""The options of each stage; every default has its unit and its reason.

Fields made by ``option`` can be set by users (``pipeline.options``).
"""

from pipeline.config.analyze import AnalyzeConfig
from pipeline.config.compare import CompareConfig
from pipeline.config.contents import (
    ConvertConfig,
    ExportConfig,
    JudgeConfig,
    ListConfig,
    LookupConfig,
    RemoveConfig,
    RenameConfig,
    RestoreConfig,
    ShowConfig,
    StatusConfig,
    TracesConfig,
    WhyConfig,
)
from pipeline.config.doctor import DoctorConfig
from pipeline.config.generate import GenerateConfig
from pipeline.config.ingest import IngestConfig
from pipeline.config.notify import NotifyActions, NotifyConfig
from pipeline.config.search import SearchConfig
from pipeline.config.servers import ExploreConfig, ServeConfig
from pipeline.config.shared import LogConfig

__all__ = [
    "AnalyzeConfig",
    "CompareConfig",
    "ConvertConfig",
    "DoctorConfig",
    "ExploreConfig",
    "ExportConfig",
    "GenerateConfig",
    "IngestConfig",
    "JudgeConfig",
    "ListConfig",
    "LogConfig",
    "LookupConfig",
    "NotifyActions",
    "NotifyConfig",
    "RemoveConfig",
    "RenameConfig",
    "RestoreConfig",
    "SearchConfig",
    "ServeConfig",
    "ShowConfig",
    "StatusConfig",
    "TracesConfig",
    "WhyConfig",
]
