"""Makes the buckets of tests, empty.

    buckets.py s3 ENDPOINT BUCKET
    buckets.py azure ENDPOINT CONTAINER    with the account and its key in AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY
"""

import base64
import hashlib
import hmac
import os
import sys
import urllib.request
from email.utils import formatdate
from urllib.parse import urlsplit


def s3(endpoint: str, bucket: str) -> None:
    import boto3

    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket=bucket)


def azure(endpoint: str, container: str) -> None:
    """Creates a container. obstore, the only client of Azure that is installed, cannot; so the request is signed here (Shared Key)."""
    account, key = os.environ["AZURE_STORAGE_ACCOUNT_NAME"], os.environ["AZURE_STORAGE_ACCOUNT_KEY"]
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    signed = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    resource = f"/{account}{urlsplit(endpoint).path}/{container}\nrestype:container"
    text = "PUT" + "\n" * 12 + signed + resource
    signature = base64.b64encode(hmac.digest(base64.b64decode(key), text.encode(), hashlib.sha256)).decode()
    headers["Authorization"] = f"SharedKey {account}:{signature}"
    request = urllib.request.Request(f"{endpoint}/{container}?restype=container", method="PUT", headers=headers)
    with urllib.request.urlopen(request, timeout=30):
        pass


{"s3": s3, "azure": azure}[sys.argv[1]](*sys.argv[2:])
