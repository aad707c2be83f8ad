"""A notification block of Prefect for any service that Apprise knows, e-mail by SMTP among them.

Prefect has blocks of its own for some services (Slack, Microsoft Teams, ...), and for webhooks.
"""

from __future__ import annotations

from prefect.blocks.notifications import AppriseNotificationBlock
from pydantic import Field, SecretStr


class AppriseUrl(AppriseNotificationBlock):
    """Notifications by an Apprise URL, for example ``mailtos://user:password@mail.example?to=noc@example``.

    Prefect keeps the URL encrypted and never shows it.
    """

    _block_type_name = "Apprise URL"
    _block_type_slug = "apprise-url"

    url: SecretStr = Field(
        default=...,
        title="Apprise URL",
        description="Where to send: a URL as github.com/caronc/apprise/wiki lists them.",
        examples=["mailtos://user:password@mail.example?to=noc@example"],
    )
