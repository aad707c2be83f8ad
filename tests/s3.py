"""A local S3 server for tests, in this process, and what programs need to find it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import boto3
from moto.server import ThreadedMotoServer

BUCKET = "lab-bucket"


@contextlib.contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Run a server with one bucket; yields variables of the environment for its users."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        variables = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "not-a-secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        s3_client(variables).create_bucket(Bucket=BUCKET)
        yield variables
    finally:
        server.stop()


def s3_client(variables: dict[str, str]):
    """A client beside ours, to look at objects and to damage them."""
    return boto3.client(
        "s3",
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
        region_name=variables["AWS_DEFAULT_REGION"],
    )


def keys(client, prefix: str = "") -> list[str]:
    """Names of all objects of the bucket below a prefix, sorted."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return sorted(entry["Key"] for page in pages for entry in page.get("Contents", ()))


@contextlib.contextmanager
def in_environment(**variables: str) -> Iterator[None]:
    """Variables of this process while the block lasts; those given empty are unset."""
    before = {name: os.environ.get(name) for name in variables}
    try:
        for name, value in variables.items():
            os.environ[name] = value
            if not value:
                del os.environ[name]
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def empty_bucket(client) -> None:
    """Remove all objects of the bucket."""
    for key in keys(client):
        client.delete_object(Bucket=BUCKET, Key=key)
